// Package schema is the engine behind "kinds are data": it compiles the YAML files of package kinds
// and from them decodes, defaults, validates and encodes objects. A Catalog and everything in it is
// immutable after Load and safe for concurrent use; an Object and its Values belong to one
// goroutine. The package has no goroutines and no state.
//
// What a kind does beyond its file is in hooks: functions of package rules that the files name.
package schema
