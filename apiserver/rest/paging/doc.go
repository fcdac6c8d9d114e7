// Package paging encodes and decodes continue values, which identify the state and the query of a
// list and the position of its next page.
//
// A value is opaque, safe in URLs, and valid on all nodes of the cluster for ten minutes after the
// first page. It is authenticated with a key derived from the cluster's signing key, so that
// clients cannot forge or modify it. It grants no permission: each page is authorized like any
// list. The package has no goroutines and no state except the key.
package paging
