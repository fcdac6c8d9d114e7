// Package failpoint builds quorate with failpoints, for tests that act at a certain point of its
// code, and arms these points in running nodes.
//
// The points are comments in the sources, in the syntax of go.etcd.io/gofail, and a release
// compiles none of them. Build rewrites copies of the files that contain points and compiles the
// copies with `go build -overlay`; it does not modify the sources. Points lists all points. A point
// whose name begins with "break" breaks a rule of Quorate while it is armed, so that a test can
// check that the violation is detected.
//
// To add a point, write its comment and add a row to Points. No other comment may follow directly,
// To add a point, write its comment and add a row to Points. No other comment may follow directly,
// because gofail takes it for the code to run when the point is armed with a return term.
// TestKilledAtEachPoint fails if no process reaches the point at its stage, and TestRulesAreBroken
// if a point does not break its rule.
// With Options.Clock, tests can also change the wall clock of a node. Measured durations are not
// affected.
//
// The package starts no goroutine.
package failpoint
