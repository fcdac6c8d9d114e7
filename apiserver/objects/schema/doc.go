// Package schema compiles the YAML files of package kinds and uses them to decode, default,
// validate and encode objects. A Catalog and everything in it is immutable after Load and safe for
// concurrent use; an Object and its Values belong to one goroutine. The package has no goroutines
// and no state.
//
// Hooks extend a kind beyond its file: the files name functions of package rules.
package schema
