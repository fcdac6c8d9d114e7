// Package route maps methods and paths to endpoints, and contains what the handlers of all
// endpoints share: the request (Call), its query and its response.
//
// Only table.go uses the router library. A Table is read-only after it is filled. A Call must be
// used by its request's goroutine only.
package route
