// Command diff compares the speed of the working copy with that of another commit, and exits with 1
// if something became worse. `make bench-diff BASE=COMMIT` runs it in the root of the repository.
//
//	go run ./bench/diff -base main -mode short     # a quick look
//	go run ./bench/diff -base main -only 'fairness|rows'   # some suites
//
// A suite is the chosen micro-benchmarks of one package, or five kinds of work on three nodes. It
// builds the commit in a worktree of git in a temporary directory, and both builds measure each
// suite in turn, once a round. The first of a round is the second of the next.
//
// A figure is worse if its median changed for the worse by more than the threshold (5 %) and the
// Mann-Whitney U test of golang.org/x/perf says that this is significant. More is better of rates,
// which are those units that end in "/s"; less is better of all others. With so many figures some
// would seem worse by chance: a suite with figures that are worse is measured again, and only those
// that are worse again count.
//
// Rounds, each measurement and everything together are bounded in time. Benchmarks that only one
// build has are listed and not compared.
package main
