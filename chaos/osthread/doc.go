// Package osthread owns threads of the operating system that do nothing but what they are told. Two
// things hold for a thread and not for a process: the network namespace it is in, and that the
// children it started are told when it ends (Pdeathsig). Both need a thread that lives as long as
// they matter and runs no other goroutine.
package osthread
