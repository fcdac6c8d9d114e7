// Package watch streams changes to clients (specification §6, semantics D).
//
// Each stream runs on its request's goroutine and holds a cursor into the shared history, never a queue: a slow client costs
// its connection's buffer only. Streams at rest share one waiter for each connection and resource, which sends for all of them (ride.go). Streams counts and bounds them, cuts those whose client takes nothing (its Run, one
// goroutine), and ends all of them on Drain. JSON events are the stored bytes; what an Encoder makes of them, such as protobuf or
// the rows of Tables, is made once for all streams of the moment (shared). How streams begin and end, so that stock caches go on
// where they were, is in DESIGN.md.
package watch
