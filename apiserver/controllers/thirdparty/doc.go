// Package thirdparty serves what ThirdPartyResources define (specification §2.12, semantics
// K1–K18): it says which kinds the ThirdPartyResources of a state make, keeps the set that is
// served current, and removes the objects of those that are gone.
//
// The set is a pure function of the state, so every node comes to the same one. A Served publishes
// it as one immutable value; whoever holds a newer state than the set was made from brings it up to
// date before going on, so nothing depends on how quick the follower is. Objects are stored under
// the uid of their ThirdPartyResource: one that is deleted and made again begins with nothing, at
// once, and what the former one left is unreachable until the leader has removed it.
//
// Run owns the goroutine that publishes, one that follows the ThirdPartyResources, one that removes
// while this node leads, and one for each deleted ThirdPartyResource whose objects are not all gone
// yet. DESIGN.md tells the whole story.
package thirdparty
