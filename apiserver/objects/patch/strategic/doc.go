// Package strategic applies strategic merge patches (F14–F24) according to patchStrategy and
// patchMergeKey of each field in the compiled schema. Inside embedded objects and unknown fields,
// which have no schema, it applies merge patches.
//
// It gives the same results as the library that Kubernetes uses, except for the differences that
// module reference lists and tests. All functions are pure.
package strategic
