// Package structural compiles the schemas of CustomResourceDefinitions (apiextensions.k8s.io/v1)
// and applies them to objects: it prunes unknown fields, fills in defaults, validates, and runs CEL
// rules.
//
// Compile checks that a schema is structural and valid, and reports errors in the words of
// Kubernetes: the same field, the same kind of cause and the same text. It refuses a schema that
// the package cannot enforce completely.
//
// A Schema is immutable and safe for concurrent use. The package starts no goroutines. Objects are
// JSON texts: Normalize returns the canonical form in which the server stores and serves them, with
// the members of objects sorted by name, no white space, and numbers as the client wrote them.
//
// To save memory, equal parts of a schema are shared and descriptions are dropped. Compile
// type-checks CEL rules; their programs are built when an object first needs them, and Programs
// keeps those of all schemas within one bound. Errors, and the work of validating an object, are
// bounded as well.
package structural
