// Command mutants plants one realistic fault at a time in a scratch copy of the project and runs
// the tests that should notice, to find promises that no test guards.
//
// The faults are data: the folder list holds a YAML file for each area. Each mutant in it is one
// edit of one file, the guarantee that the edit breaks, and the tests to run, cheapest first. The
// first failing test ends a mutant's run. That test then runs once more on the unchanged tree, so
// that a test that fails anyway does not count. If no test notices a mutant, a test is missing.
//
//	go run ./chaos/mutants -list                     # what there is
//	go run ./chaos/mutants -mutants gate-shrinks     # some, by name or by area
//	go run ./chaos/mutants -resume                   # all that results.jsonl doesn't have yet
//	go run ./chaos/mutants -table                    # write results.jsonl's table into README.md
//
// The command exits with 1 if a mutant survived or the list has an error. CI doesn't run it,
// because it takes hours, but its tests check that every edit still fits today's sources.
package main
