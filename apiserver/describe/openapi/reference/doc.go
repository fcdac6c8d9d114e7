// Package reference checks the documents of package openapi against public validators, against the
// objects that the server stores, and against the strategic merge patches that kubectl's libraries
// compute with these documents, which the server must apply as intended. It contains only tests. It
// is a separate module so that the server does not depend on these libraries.
//
// Two extensions of version 2 are meant for clients and unknown to validators: x-nullable, which
// the test translates, and x-kubernetes-int-or-string, whose schemas have no type.
//
// The documents do not offer strategic merge patches of images. The server accepts them but merges
// signatures by metadata.name, which documents cannot express. Clients then send merge patches,
// which replace the list as intended.
package reference
