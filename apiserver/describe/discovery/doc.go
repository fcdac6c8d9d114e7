// Package discovery serves the lists of groups, versions and resources (semantics L1–L11): one
// document for each list, and an aggregated one.
//
// New builds the documents of the kinds that are always served, and With adds those of kinds that
// change at run time. Documents are immutable, and requests only copy them. The package has no
// goroutines.
package discovery
