// Package review serves the review kinds (semantics J58), which return who a user is and what the
// user may do. Their objects are requests and responses that are never stored. Their API groups are
// those of stock clients, not of this server (Z15).
//
// The package makes no decisions of its own. It calls the authenticator and the authorizer that all
// requests use. It has no goroutines and no state.
package review
