// Package rules is everything that the kind and type files say in words: the validators,
// defaulters, immutability checks, preparation steps and converters that they name, one file per
// family, and what the end of an object's life takes for its kind.
//
// Hooks returns them as one table for schema.Load. All hooks are pure functions of the object at
// work: no state, no goroutines, safe for concurrent use. A hook allocates only when it changes or
// reports something. What clients read in a refusal is worded as the Kubernetes and OpenShift API
// servers word it; clients parse some of it.
//
// The files hold the rules' texts; a test fails when a text there has no hook.
package rules
