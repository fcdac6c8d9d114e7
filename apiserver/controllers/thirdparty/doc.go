// Package thirdparty serves the kinds that ThirdPartyResources define (specification §2.12,
// semantics K1–K18): it derives the kinds from the ThirdPartyResources of a state, keeps the served
// set current, and removes the objects of deleted ThirdPartyResources.
//
// The set is a pure function of the state, so every node derives the same one. A Served publishes
// it as one immutable value. A caller with a newer state than the set's updates the set before it
// continues, so correctness doesn't depend on the speed of the follower. Objects are stored under
// the uid of their ThirdPartyResource: one that is deleted and created again starts empty at once,
// and the objects of the former one are unreachable until the leader has removed them.
//
// Run owns the goroutine that publishes sets, one that follows the ThirdPartyResources, one that
// removes objects while this node leads, and one for each deleted ThirdPartyResource that still has
// objects. DESIGN.md gives the details.
package thirdparty
