// Package route maps methods and paths to endpoints, and contains the parts that the handlers of
// all endpoints share: the request (Call), its query and its response.
//
// Only route_table.go uses the router library. A Table is read-only after it is filled. Only the
// goroutine of its request may use a Call.
package route
