// Package reference holds package structural against k8s.io/apiextensions-apiserver: the same
// schemas and objects are given to both, and their decisions, causes and texts compared. It
// contains only tests. It is a separate module so that the server does not depend on that library.
//
// The files in testdata/upstream are the inputs of the library's own unit tests: the schemas and
// objects that they pass to pruning, defaulting, validation and rules. Those in testdata/crds are
// definitions of well-known operators, for which the tests generate objects.
package reference
