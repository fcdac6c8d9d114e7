// Package reference compares package structural with k8s.io/apiextensions-apiserver: for the same
// schemas and objects, both must give the same decisions, causes and texts. It contains only tests.
// It is a separate module so that the server does not depend on that library.
//
// The files in testdata/upstream are the inputs of the library's own unit tests: the schemas and
// objects that they pass to pruning, defaulting, validation and rules. Those in testdata/crds are
// definitions of well-known operators, for which the tests generate objects.
package reference
