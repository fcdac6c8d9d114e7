// Package strategic applies strategic merge patches (F14–F24) by what the compiled schema says of
// each field: patchStrategy and patchMergeKey. Where the schema knows nothing, inside of embedded
// objects and unknown fields, it works as a merge patch.
//
// It agrees with the library that Kubernetes uses, as module reference proves, but for the
// differences listed there. No goroutines, no state.
package strategic
