package h2

// Lend queues p as the next part of an answer, and does not wait for its client: it reports whether p was taken. P is not copied: it must
// stay as it is for good. Nothing is taken before the header is sent, and while what was lent before waits for the client.
//
// Another goroutine may call it than the handler's, while that does nothing with its answer. The handler must have flushed all that it has
// written, and have announced no length.
func (w *response) Lend(p []byte) bool {
	st := w.st
	st.conn.mu.Lock()
	defer st.conn.mu.Unlock()
	if st.err != nil || !st.headed || st.sentEnd || st.queue.active {
		return false
	}
	st.offer(nil, p, false)
	return true
}

// Lent reports whether something of the answer waits for its client to take it.
func (w *response) Lent() bool {
	w.st.conn.mu.Lock()
	defer w.st.conn.mu.Unlock()
	return w.st.queue.active
}

// Connection identifies the connection of an answer: answers on one share what there is to share.
func (w *response) Connection() any { return w.st.conn }
