// Package paging makes and reads the values of `continue`: where the next page of a list begins, in
// which state, for which query.
//
// A value is opaque, safe in a URL, and good on every node of the cluster until ten minutes after
// its list began. It is authenticated with a key derived from the cluster's signing key, so a
// client can neither forge nor change one. It grants no permission: each page is authorized like
// any list. The package has no state beside the key and no goroutines.
package paging
