// Package discovery tells clients what is served: groups, versions, resources (semantics L1–L11),
// in one list for each, and in one document for all.
//
// Everything is made from the kinds once, in New, and again for kinds that come and go, in With,
// and then only written out. Documents are immutable. No goroutines.
package discovery
