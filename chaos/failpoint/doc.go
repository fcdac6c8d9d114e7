// Package failpoint builds quorate with failpoints, for tests that act at a certain point of its
// code, and arms these points in running nodes.
//
// The points are comments in the sources, in the syntax of go.etcd.io/gofail, so releases contain
// no trace of them. Build rewrites copies of the files that have points and compiles with `go build
// -overlay`; the tree stays unchanged. Points lists all points. A point whose name begins with
// "break" breaks a rule on purpose while it is armed, and a checker must detect the violation.
//
// To add a point, write its comment (the lines after it must not be comments: gofail takes them for
// code of a point that breaks a rule) and a line in Points. A test must reach the point at its
// stage; otherwise the test fails.
//
// With Options.Clock, tests can also move the wall clock of a node; measured durations are not
// affected.
//
// The package starts no goroutine.
package failpoint
