// Package history records the operations of a run's clients, their responses, and the times of
// both. It judges nothing; package check does.
package history
