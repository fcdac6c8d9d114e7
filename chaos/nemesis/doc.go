// Package nemesis hurts a cluster under test, one fault after another, and mends it again.
package nemesis
