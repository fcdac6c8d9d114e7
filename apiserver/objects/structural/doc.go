// Package structural compiles the schemas of CustomResourceDefinitions (apiextensions.k8s.io/v1)
// and applies them to objects: it prunes unknown fields, fills in defaults, validates, and runs
// CEL rules.
//
// Compile checks that a schema is structural and valid, and reports what is wrong with it in the
// words of Kubernetes: the same field, the same kind of cause and the same text. A Schema enforces
// everything that it was compiled from; Compile refuses what the package cannot enforce.
//
// A Schema is immutable and safe for concurrent use. The package starts no goroutines. Objects are
// JSON texts: Normalize returns the canonical form in which the server stores and serves them, with
// the members of objects sorted by name, no white space, and numbers as the client wrote them.
//
// Equal parts of a schema share memory, and descriptions are dropped. CEL rules are type-checked by
// Compile; the programs are built when an object first needs them.
package structural
