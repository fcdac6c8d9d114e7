// Package osthread runs functions on operating system threads that run nothing else. Two properties
// belong to a thread and not to a process: its network namespace, and the parent-death signal
// (Pdeathsig) of the children that it started. Both need a thread that runs no other goroutine and
// exists as long as the namespace or the children do.
package osthread
