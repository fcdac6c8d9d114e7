// Package history holds what the clients of a run did and were told, and when. It judges nothing; package check does.
package history
