// Package failure defines the errors of a store that callers examine with errors.Is and errors.As.
// The subpackages of raftstore return them, because they can't import raftstore. Package raftstore
// exports each under the same name.
package failure
