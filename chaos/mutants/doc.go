// Command mutants plants one realistic fault at a time in a scratch copy of the project and runs
// the tests that should notice, to find guarantees that no test checks.
//
// The faults are data: the folder list holds a YAML file for each area. Each mutant in it is one
// edit of one file, the guarantee that the edit breaks, and the tests to run, cheapest first. The
// first failing test ends a mutant's run. The same test then runs on the unchanged tree; if it
// fails there too, the mutant is unsure instead of caught. If all tests pass, a test is missing or
// the edit has no effect.
//
//	go run ./chaos/mutants -list                          # print the mutants
//	go run ./chaos/mutants -mutants token-cached-for-ever  # run some, by name or by area
//	go run ./chaos/mutants -resume                        # run those not caught by results.jsonl
//	go run ./chaos/mutants -table                         # update the table in README.md
//
// Run it in the root of the project. It exits with 1 unless it caught every mutant that it ran. CI
// does not run it, because a run takes hours, but the package's tests check that every edit still
// fits the sources.
package main
