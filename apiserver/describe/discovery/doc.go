// Package discovery serves the lists of groups, versions and resources (semantics L1–L11), one
// document for each and one for all.
//
// New builds all documents from the kinds, and With builds those of kinds that change at run time.
// Requests only copy them. Documents are immutable. No goroutines.
package discovery
