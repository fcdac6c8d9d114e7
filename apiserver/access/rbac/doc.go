// Package rbac authorizes requests with roles and their bindings (semantics J18–J37). It decides
// whether a user may perform a request, and why, and whether a user may grant permissions. It also
// defines the built-in roles and bindings of every cluster.
//
// The roles and bindings of this node's state are compiled into an index, which maps subjects to
// their bindings and names to roles. An index is immutable; successive indexes share unchanged
// parts. A decision loads the current index through one pointer, without locks or allocations. One
// goroutine builds the next index from the changes of the four collections in log order, so that
// each index corresponds to the state at one log index.
//
// Writes through other nodes take effect when this node applies them (J37). A write through this
// node takes effect here before it is acknowledged. Until the first index, which contains
// the state committed when the server started, is complete, only system:masters are authorized.
// Decisions about granting use a confirmed state.
//
// Run runs the goroutine that builds indexes, one for each collection that follows its changes, and
// one that creates the built-in roles and bindings while this node leads.
package rbac
