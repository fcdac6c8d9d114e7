package h2

// TryEnqueue queues p as the next bytes of the response and reports whether it did. It does not
// wait for the client and does not copy p, which must never change afterwards. It refuses p before
// the header has been sent, while earlier bytes are pending, and after the response has ended or
// was aborted.
//
// A goroutine other than the handler's may call TryEnqueue while the handler does not use the
// response. The handler must have flushed everything that it has written, and must not have set a
// Content-Length.
func (w *response) TryEnqueue(p []byte) bool {
	st := w.st
	st.conn.mu.Lock()
	defer st.conn.mu.Unlock()
	if st.err != nil || !st.headQueued || st.sentEnd || st.queue.active {
		return false
	}
	st.enqueue(nil, p, false)
	return true
}

// Pending reports whether queued bytes of the response wait for room in a window or in the outgoing
// buffer.
func (w *response) Pending() bool {
	w.st.conn.mu.Lock()
	defer w.st.conn.mu.Unlock()
	return w.st.queue.active
}

// Connection returns a value that identifies the connection of the response: it is equal for all
// responses on one connection, and only for these.
func (w *response) Connection() any { return w.st.conn }
