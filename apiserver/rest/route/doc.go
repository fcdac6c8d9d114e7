// Package route maps methods and paths to endpoints, and contains the parts that the handlers of
// all endpoints share: the request (Call), its query and its response.
//
// A Table is read-only once it is filled. A Call belongs to the goroutine of its request. Only
// route_table.go uses the router library.
package route
