// Package mixture runs hundreds of watches of every shape on few connections, and writers whose
// objects enter and leave the selections of the watches.
//
// The watches differ in kind and API version, scope (one object, one namespace, all), label and
// field selectors, representation (JSON, protobuf, PartialObjectMetadata, Table), path (?watch=true
// and /watch/), user, start and end. All watches of a node share two connections, so that every
// kind of work that streams of one connection can share is shared. Reference watches, which select
// everything and have connections of their own, report every event.
//
// The package judges nothing: Record returns what package watchmodel judges. A Mixture owns its
// goroutines, one for each watch and writer, until Close.
package mixture
