package h2

// Lend queues p as the next part of an answer that has begun, and does not wait for its client: it reports whether it was taken. P is
// not copied: it must stay as it is for good. What was lent before has to be on its way first, and so does all that the handler has
// written.
//
// Another goroutine may call it than the handler's, while the handler does nothing with its answer.
func (w *response) Lend(p []byte) bool {
	if !w.sent || w.finished || w.headOnly || w.scratch != nil && len(w.scratch.body) > 0 || w.length >= 0 {
		return false
	}
	st := w.st
	c := st.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if st.err != nil || st.sentEnd || st.queue.active {
		return false
	}
	w.written += int64(len(p))
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
