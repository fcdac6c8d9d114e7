// Package apply implements server-side apply: it merges the fields that a manager declares into an
// object, and records in metadata.managedFields which manager owns which fields.
//
// The library sigs.k8s.io/structured-merge-diff, which Kubernetes uses as well, merges objects and
// sets of fields. This package derives the library's types from the compiled kinds (types.go),
// also allows what objects that come from another version of a custom kind have (lenient.go),
// converts between the versions of a kind (version.go), and reads and writes the entries of
// managedFields (entries.go). It also implements rules of Kubernetes that are not in the library:
// which fields have no owner, how many entries of updates are retained (ancient.go), which manager
// owns the fields that an object had before its first apply, and how kubectl takes over objects
// that it applied on the client's side (last_applied.go).
//
// Objects that were never applied have no managed fields, and Update returns at once for them. The
// module in reference compares the results with those of Kubernetes.
//
// All functions are pure. A Manager is immutable and safe for concurrent use.
package apply
