// Package reference judges the documents of package openapi: by public validators, by the objects
// that the server stores, and by the strategic merge patches that the libraries of kubectl make of
// them, which the server must apply as they are meant. It is a module of its own to keep those
// libraries out of what ships; it has tests only.
//
// Two things are said in version 2 as clients understand them, not as validators do: x-nullable,
// which the test translates, and x-kubernetes-int-or-string, which has no type.
//
// Images do not offer strategic merge patches there. The server takes them, but merges signatures
// by their metadata.name, which documents cannot say; clients then send merge patches, which
// replace the list as they mean to.
package reference
