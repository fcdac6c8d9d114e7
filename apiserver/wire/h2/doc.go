// Package h2 serves HTTP/2 over TLS for an http.Server in place of net/http's own implementation, which goes on to serve HTTP/1.1.
//
// Configure plugs it in; everything else is as with net/http: handlers, contexts, http.ResponseController, Shutdown and Close. Why
// it exists, and what it leaves out, is in DESIGN.md.
//
// # Goroutines
//
// A connection has a reader (the goroutine net/http gave it), a writer, and one goroutine for each request. The reader decodes
// frames and starts handlers; it also does all that is due by time, from its read deadline. Handlers put frames into the
// connection's outgoing buffer themselves; the writer takes the buffer whole and writes it. The reader returns after all others.
//
// # Invariants
//
//   - conn.mu guards everything but what is the reader's alone (incoming) and the handler's alone (response). No I/O and no call
//     out under it.
//   - A stream in streams.open is open in the protocol's sense; its handler may end before or after it leaves the map.
//   - stream.err, once set, stays. From then on nothing of the stream goes out, and nobody reads what its handler lent.
//   - At most maxQueuedBytes and one frame wait in the outgoing buffer, control frames aside, which have a bound of their own. Who has
//     more to send waits in outgoing.waiting and is served in turn, one frame at a time.
//   - A stream has one thing queued at a time. A handler waits until its own bytes have gone; after TryEnqueue, the next write waits.
//   - Response headers are encoded without the dynamic table, so they depend on nothing and are made outside the lock.
package h2
