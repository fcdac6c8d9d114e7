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
// A write through another node takes effect here when this node applies it (J37). A write through
// this node usually takes effect here before it is acknowledged (see derived.Refresher.Writes). The
// first index contains every role and binding that was committed when the server started. Until it
// is complete, only members of system:masters are authorized. Decisions about granting use a
// confirmed state.
//
// A cluster role with an aggregationRule has the rules of the roles that it selects by their
// labels: the leader writes them into it whenever a cluster role changes, so that deciding needs no
// selectors.
//
// Run starts one goroutine that builds indexes, four that each follow the changes of a collection,
// and one that, while this node leads, creates and restores the built-in roles and bindings, and
// then aggregates cluster roles.
package rbac
