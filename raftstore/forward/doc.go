// Package forward sends requests to other nodes: writes and requests for read indexes to the
// leader, and requests for terms, checksums, alarms and pages to any node.
//
// Client keeps one connection for each peer, and on it one stream for all writes. Writes wait in a
// queue, from which the sender puts as many into a message as fit. Server receives the stream,
// decides the writes concurrently, and sends as many results in a message as are ready. No timer
// delays a message in either direction.
//
// An error that wraps ErrNotSent means that this node did not send the write, or that the peer has
// certainly not accepted it, so the caller may send it to another leader. After any other error the
// write may still be applied. The package never sends a write twice.
package forward
