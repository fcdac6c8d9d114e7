// Package h2 serves HTTP/2 over TLS for an http.Server in place of net/http's own implementation.
// net/http continues to serve HTTP/1.1.
//
// Configure installs it. Handlers, contexts, http.ResponseController, Shutdown and Close work as
// with net/http. DESIGN.md explains why the package exists and what it leaves out.
//
// # Goroutines
//
// A connection has a reader (the goroutine on which net/http accepted it), a writer, and one
// goroutine for each request that is not paused (response.Then). The reader decodes frames and
// starts handlers; its read deadline also drives the timeouts of the connection, whereas those of a
// stream have timers. Handlers append frames to the connection's outgoing buffer; the writer takes
// the whole buffer and writes it. The reader returns after the writer and all handlers.
//
// # Invariants
//
//   - conn.mu guards everything except incoming, which only the reader uses, and response, which
//     only the handler uses. While a goroutine holds it, it performs no I/O (it may set deadlines)
//     and calls no handler. It may end the context of a request, whose functions run on goroutines
//     of their own.
//   - streams.open contains the streams that are open in the protocol's sense. A handler may return
//     before or after its stream leaves the map.
//   - stream.err never changes once it is set. From then on, RST_STREAM is the only frame of the
//     stream that is added to the outgoing buffer, and no goroutine reads the bytes that the stream
//     had queued.
//   - A stream adds frames to the outgoing buffer only while the buffer is below maxQueuedBytes,
//     one DATA frame or one header block at a time. Streams with more to send wait in a FIFO list
//     and send one frame when they reach its head. Replies to control frames have a bound of their
//     own, maxQueuedControl.
//   - A stream has at most one write queued. A handler waits until its write is in the outgoing
//     buffer; bytes queued by TryEnqueue delay the next write.
//   - Response headers are encoded without the dynamic table. Their encoding depends on no state of
//     the connection and takes place without conn.mu.
package h2
