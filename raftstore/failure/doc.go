// Package failure defines the errors that callers of a store compare with errors.Is and errors.As.
// Package raftstore exports each under the same name for callers outside raftstore. The packages
// below raftstore, which can't import it, return these.
package failure
