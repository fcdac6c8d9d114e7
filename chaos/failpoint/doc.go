// Package failpoint builds quorate for tests that must hit a certain moment in its code, and arms those moments in running nodes.
//
// The moments are comments in the sources, in the manner of go.etcd.io/gofail, so what ships has no trace of them. Build rewrites copies of
// the files that have them and compiles with `go build -overlay`; the tree stays as it is. Points lists them all. The names that begin with
// "break" break a rule on purpose while they are armed: a checker that passes a run with one of them can't be trusted.
//
// To add a point, write the comment at its moment (no other comment may follow it: the lines that do are code, for points that break rules)
// and a line in Points; the tests come to it by its stage, and tell when they don't.
//
// Built with Options.Clock, the wall clock of a node can also be moved; what measures durations isn't affected.
//
// The package starts no goroutine.
package failpoint
