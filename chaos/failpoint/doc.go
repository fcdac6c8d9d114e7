// Package failpoint builds quorate with failpoints, for tests that act at a certain point of its
// code, and arms these points in running nodes.
//
// The points are comments in the sources, as of go.etcd.io/gofail, so releases have no trace of
// them. Build rewrites copies of the files that have points and compiles with `go build -overlay`;
// the tree stays unchanged. Points lists all points. While armed, those whose names begin with
// "break" break a rule on purpose, and a checker must find it.
//
// To add a point, write its comment (no other comment may follow it: lines that follow are code,
// for points that break rules) and a line in Points. The tests reach it by its stage, and fail if
// they don't.
//
// With Options.Clock, tests can also move the wall clock of a node; measured durations are not
// affected.
//
// The package starts no goroutine.
package failpoint
