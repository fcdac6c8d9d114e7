// Package validation implements the hooks that the kind and type files name: validators,
// defaulters, immutability checks, preparation steps and converters. Each file contains one family
// of hooks.
//
// Hooks returns all of them in one table for schema.Load. A hook depends only on the objects in its
// Context and is safe for concurrent use. The messages are those of the Kubernetes and OpenShift
// API servers, because clients parse some of them.
//
// The kind and type files describe the rules in words; a test checks that each of these texts has a
// hook or is a known exception.
package validation
