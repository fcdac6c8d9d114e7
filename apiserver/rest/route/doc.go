// Package route maps a method and path to an endpoint, and holds what the handlers of all endpoints share: one request at work
// (Call), its query, its answer.
//
// The router library stands behind table.go only. A Table is filled once, then only read; a Call belongs to its request's
// goroutine.
package route
