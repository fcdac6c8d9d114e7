// Package route maps a method and path to an endpoint, and holds what the handlers of all endpoints
// share: the request that is being served (Call), its query and its response.
//
// The router library stands behind table.go only. A Table is filled once, then only read; a Call
// belongs to its request's goroutine.
package route
