// Package review serves the review kinds (semantics J58), which answer who a user is and what the
// user may do. Their objects are requests and responses, and are never stored. Their API groups are
// those that stock clients use, whatever groups this server defines (Z15).
//
// The package decides nothing: it calls the authenticator and the authorizer that serve all
// requests. It keeps no state and has no goroutines.
package review
