// Package custom serves the kinds that are defined at run time: by ThirdPartyResources
// (specification §2.12, semantics K1–K18) and by CustomResourceDefinitions. It derives the kinds
// from the definitions of a state, updates the served set, writes the status of
// CustomResourceDefinitions, and removes the objects of deleted definitions.
//
// The set is a pure function of the state, so that all nodes derive the same one. A Served
// publishes it as an immutable value. A request whose state is newer than the set first updates the
// set, so that correctness does not depend on how fast the node follows changes. Objects are stored
// under the uid of their definition: if a definition is deleted and created again, its kind has no
// objects at first. Those of the former definition can no longer be reached, and the leader removes
// them. A CustomResourceDefinition can take over the objects of a ThirdPartyResource: its record of
// that uid is part of the state.
//
// Run starts one goroutine that publishes sets, two that follow the definitions, two that work
// while this node leads (one removes orphaned objects, one attends to CustomResourceDefinitions),
// and one for each definition deleted since, until its last object is removed. DESIGN.md contains
// the details.
package custom
