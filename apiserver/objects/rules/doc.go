// Package rules implements the hooks that the kind and type files name: validators, defaulters,
// immutability checks, preparation steps and converters, one file per family.
//
// Hooks returns them as one table for schema.Load. All hooks are pure functions of the object in
// the request: no state, no goroutines, safe for concurrent use. A hook allocates only when it
// changes or reports something. Refusals are worded as the Kubernetes and OpenShift API servers
// word them, because clients parse some of the texts.
//
// The files contain the rules in words; a test fails when a text there has no hook.
package rules
