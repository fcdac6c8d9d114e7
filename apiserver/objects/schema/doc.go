// Package schema compiles the YAML files of package kinds and uses them to decode, default,
// validate and encode objects. A Catalog and everything in it is immutable after Load and safe for
// concurrent use; an Object and its Values are not safe for concurrent use. The package starts no
// goroutines.
//
// Hooks extend a kind beyond what its file can express: the file names functions of package
// validation.
package schema
