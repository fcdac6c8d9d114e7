// Package discovery serves the lists of groups, versions and resources (semantics L1–L11): one
// document for each list, and the aggregated forms of /api and /apis.
//
// New builds the documents of the kinds that are always served, and With adds those of kinds that
// change at run time. Documents are immutable. The package has no goroutines.
package discovery
