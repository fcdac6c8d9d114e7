// Package rbac authorizes requests with roles and their bindings (semantics J18–J37): it decides
// whether a user may do something and why, and whether a user may grant something. It also defines
// the roles and bindings that every cluster has.
//
// The roles and bindings of this node's state are compiled into an index that maps subjects to
// their bindings and names to roles. An index never changes; successive indexes share unchanged
// parts. A decision loads the latest index through one pointer, takes no lock and allocates
// nothing. One goroutine builds the next index from the changes of the four collections in log
// order, so every decision uses a state that existed at one moment.
//
// Writes of other nodes take effect when this node applies them (J37). A write through this node is
// acknowledged after it takes effect here. Until the index contains the state that was committed
// when the server started, only system:masters are authorized. Decisions about granting use a
// confirmed state.
//
// Run owns the goroutine that builds the index, one per collection that follows its changes, and
// one that creates the built-in roles and bindings while this node leads.
package rbac
