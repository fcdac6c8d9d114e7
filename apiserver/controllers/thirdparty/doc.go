// Package thirdparty serves the kinds that ThirdPartyResources define (specification §2.12,
// semantics K1–K18). It derives the kinds from the ThirdPartyResources of a state, updates the
// served set, and removes the objects of deleted ThirdPartyResources.
//
// The set is a pure function of the state, so that all nodes derive the same one. A Served
// publishes it as an immutable value. A request that has a newer state than the set first updates
// the set, so that correctness does not depend on how fast the node follows changes. Objects are
// stored under the uid of their ThirdPartyResource: if one is deleted and created again, its kind
// has no objects at first, and those of the former one cannot be reached until the leader has
// removed them.
//
// Run runs one goroutine that publishes sets, one that follows the ThirdPartyResources, one that
// removes objects while this node leads, and one for each deleted ThirdPartyResource that still has
// objects. DESIGN.md contains the details.
package thirdparty
