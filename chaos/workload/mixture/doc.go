// Package mixture runs hundreds of watches of every shape on few connections, and writers whose
// objects enter and leave the selections of the watches.
//
// The watches differ in kind and API version, scope (one object, one namespace, all), label and
// field selectors, representation (JSON, protobuf, PartialObjectMetadata, Table), path (?watch=true
// and /watch/), user, start and end. All watches of a node share two connections, except those of
// slow readers, which share a third, so that the node can share every kind of work between the
// streams of a connection. Reference watches, which select everything and use another connection,
// report every event.
//
// The package judges nothing: Record returns what package watchmodel judges. A Mixture owns its
// goroutines, one for each watch, reference and writer, until Close.
package mixture
