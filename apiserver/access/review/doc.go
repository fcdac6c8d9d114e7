// Package review answers who somebody is and what they may do (semantics J58): kinds whose objects
// are sent and answered, and never stored. Their groups are those that stock clients ask, whatever
// groups a server has of its own (Z15).
//
// It decides nothing itself: the authenticator and the authorizer of all requests do. It keeps no
// state and has no goroutines.
package review
