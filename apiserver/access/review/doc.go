// Package review serves the review kinds (semantics J58), which return who a user is and what the
// user may do. The objects are requests and responses, and are never stored. Their API groups are
// those of stock clients, not of this server (Z15).
//
// The reviews are decided by the authenticator and the authorizer that serve all requests. The
// package has no goroutines and no state.
package review
