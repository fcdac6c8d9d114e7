// Package failure defines the errors that callers of a store branch on, with errors.Is and
// errors.As. Package raftstore exports each under the same name, and callers outside raftstore use
// those; the packages below raftstore, which can't import it, return these.
package failure
