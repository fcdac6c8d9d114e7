// Command software tries programs and manifests of other projects on a cluster of three nodes, and
// writes a table of what was tried and what came of it. `make clients` runs it.
//
// The catalog is data: each entry says how the software is obtained, in a version that is pinned,
// and which steps are tried. The Go module proxy and Debian's packages are all that it takes. A
// step is a shell script that must succeed within a time; it runs against another node than the
// step before. Each entry has a cluster of its own, so that it meets nothing that another one left.
//
//	go run ./chaos/software -list               # what there is
//	go run ./chaos/software -only 'helm|kustom' # some, by name
//
// A step that is known to fail says why, and what it would take. Software that can't be obtained is
// in the table with the reason. The command exits with 1 if a step fails that should pass.
//
// CI doesn't run it, because building the software takes many minutes; its tests check that the
// catalog is complete and that results are judged as the table says.
package main
