// Package demo runs a cluster of real nodes in one terminal, for people who want to see what happens
// when a node dies: it starts child processes of this binary in a temporary directory, shows what
// they report, and kills, restarts and adds nodes as keys are pressed.
//
// Run owns everything: it returns after every child has ended and was waited for, and after the
// directory is removed. Children are killed with SIGKILL also at the end, because nothing of theirs
// is kept; if the demo itself is killed, the kernel kills them.
//
// Goroutines: one for each child, which waits for its end; one that reads keys; and at most one that
// asks the cluster for its members. All changes happen in the loop of Run.
package demo
