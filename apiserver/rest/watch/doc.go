// Package watch streams changes to clients (specification §6, semantics D).
//
// Each stream begins on the goroutine of its request and follows the changes on another one
// (follow.go). It reads a cursor into the shared history. A stream has no queue of events, so a
// slow client uses no more memory than the buffers of its connection. The idle streams of one
// connection that follow one resource form a fan-out: the goroutine of one of them waits for
// changes and enqueues them for all of these streams, and the others have none (fanout.go).
//
// Streams counts the streams, bounds their number, ends them when they expire (expiry.go), ends
// those whose clients do not read (Run, one goroutine), and ends all of them (Drain). Events in
// JSON contain the stored bytes. The output of an Encoder, such as protobuf or the row of a Table,
// is encoded once and shared by all streams that send it at about the same time (cache.go).
//
// DESIGN.md describes how streams begin and end so that a client's cache continues from its
// version.
package watch
