// Command mutants plants one realistic fault at a time in a scratch copy of the project and runs
// the tests that should notice, to find promises that no test guards.
//
// The faults are data: list holds a YAML file for each area, and each mutant in it is one edit of
// one file, the guarantee that the edit breaks, and the tests to run, cheapest first. The first
// failing test ends a mutant's run; it is then run once more on the unchanged tree, so that a test
// that fails anyway counts for nothing. A mutant that no test notices survives: a test is missing.
//
//	go run ./chaos/mutants -list                     # what there is
//	go run ./chaos/mutants -mutants gate-shrinks     # some, by name or by area
//	go run ./chaos/mutants -resume                   # all that results.jsonl doesn't have yet
//	go run ./chaos/mutants -table                    # write results.jsonl's table into README.md
//
// The command exits with 1 when a mutant survived or the list is at fault. CI doesn't run it, since
// it takes hours, but its tests check that every edit still fits today's sources.
package main
