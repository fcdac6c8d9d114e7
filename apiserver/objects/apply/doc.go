// Package apply implements server-side apply: it merges the fields that a manager declares into an
// object, and keeps in metadata.managedFields which manager owns which fields.
//
// The merge and the bookkeeping of fields are those of sigs.k8s.io/structured-merge-diff, which
// Kubernetes uses, too. This package derives the types for it from the compiled kinds (types.go),
// converts between the versions of a kind (version.go), and reads and writes the entries of
// managedFields (entries.go). Around them are the rules of Kubernetes: which fields nobody owns,
// how many managers of updates an entry is kept for (ancient.go), what an object is attributed to
// that existed before its first apply, and how kubectl takes over objects that it applied on the
// client's side (last_applied.go).
//
// Objects that were never applied have no managed fields, and an update of one costs nothing here.
// The module in reference compares the results with those of Kubernetes.
//
// All functions are pure. A Manager is immutable and safe for concurrent use.
package apply
