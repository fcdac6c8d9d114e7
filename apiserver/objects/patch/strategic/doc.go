// Package strategic applies strategic merge patches (F14–F24) according to patchStrategy and
// patchMergeKey of each field in the compiled schema. Where there is no schema, inside embedded
// objects and unknown fields, it applies a merge patch.
//
// It agrees with the library that Kubernetes uses, except for the differences that module reference
// lists and proves. No goroutines, no state.
package strategic
