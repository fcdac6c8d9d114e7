// Package mixture runs hundreds of watches of every shape on few connections, and the writers whose
// objects enter and leave what the watches select.
//
// The watches differ in kind and API version, scope (one object, one namespace, all), label and
// field selectors, representation (JSON, protobuf, PartialObjectMetadata, Table), path (?watch=true
// and /watch/), user, start and end. All watches of a node share two connections, so that every
// sharing of work between streams of one connection is at work. Reference watches, which select
// nothing and have connections of their own, tell everything that happens.
//
// The package judges nothing: Record returns what package watchmodel judges. A Mixture owns its
// goroutines, one for each watch and writer, until Close.
package mixture
