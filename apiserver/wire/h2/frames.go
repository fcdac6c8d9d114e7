package h2

import (
	"golang.org/x/net/http2"
)

// handle handles one frame, with the CONTINUATION frames that follow HEADERS. It returns a
// connFault or a streamFault if the frame breaks the protocol or hits a bound.
func (c *conn) handle(f http2.Frame) error {
	switch f := f.(type) {
	case *http2.HeadersFrame:
		return c.onHeaders(f)
	case *http2.DataFrame:
		return c.onData(f)
	case *http2.WindowUpdateFrame:
		return c.onWindowUpdate(f)
	case *http2.RSTStreamFrame:
		return c.onReset(f)
	case *http2.SettingsFrame:
		return c.onSettings(f)
	case *http2.PingFrame:
		return c.onPing(f)
	case *http2.PushPromiseFrame:
		return protocolFault("PUSH_PROMISE from a client")
	case *http2.GoAwayFrame:
		// The client opens no more streams. It closes the connection after the open ones.
		return c.countIdleFrame()
	case *http2.PriorityFrame:
		return c.onPriority(f)
	default:
		return c.countIdleFrame()
	}
}

// countIdleFrame counts a frame that carries no data and starts no request. It returns an error if
// the client has sent too many of them.
func (c *conn) countIdleFrame() error {
	if !c.in.idleFrames.spend() {
		return limitExceeded(limitIdleFrames, "too many frames without effect")
	}
	return nil
}

// onPriority returns an error for a stream that depends on itself (RFC 7540 §5.3.1). It ignores all
// other priorities, which RFC 9113 §5.3.2 deprecates.
func (c *conn) onPriority(f *http2.PriorityFrame) error {
	if err := c.countIdleFrame(); err != nil {
		return err
	}
	if f.StreamDep == f.StreamID {
		return &streamFault{f.StreamID, http2.ErrCodeProtocol, dependsOnItself}
	}
	return nil
}

// idleStream reports whether the client has not opened the stream yet. mu is held.
func (c *conn) idleStream(id uint32) bool { return id%2 == 0 || id > c.streams.last }

func (c *conn) onData(f *http2.DataFrame) error {
	if len(f.Data()) == 0 && !f.StreamEnded() {
		if err := c.countIdleFrame(); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idleStream(f.StreamID) {
		return protocolFault("DATA on an idle stream")
	}
	length := int32(f.Length)
	if !c.window.consume(length) {
		return &connFault{code: http2.ErrCodeFlowControl, why: "more data than the connection's window"}
	}
	st := c.streams.open[f.StreamID]
	if st != nil && !st.receivedEnd {
		return c.receive(st, f.Data(), length, f.StreamEnded())
	}
	c.credit(nil, int(length))
	if _, byServer := c.streams.recallClosed(f.StreamID); st == nil && byServer {
		return nil // the client sent it before it knew that the server had closed the stream
	}
	return c.breakStream(st, &streamFault{f.StreamID, http2.ErrCodeStreamClosed, "DATA after the stream's end"})
}

func (c *conn) onWindowUpdate(f *http2.WindowUpdateFrame) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	more := int64(f.Increment)
	if f.StreamID == 0 {
		if c.out.window+more > maxWindow {
			return &connFault{code: http2.ErrCodeFlowControl, why: "connection window too large"}
		}
		c.out.window += more
		c.moveWaiting()
		c.wakeWriter()
		return nil
	}
	if c.idleStream(f.StreamID) {
		return protocolFault("WINDOW_UPDATE on an idle stream")
	}
	st := c.streams.open[f.StreamID]
	if st == nil {
		return nil // the client may have sent it before the stream ended
	}
	if st.window+more > maxWindow {
		return c.breakStream(st, &streamFault{st.id, http2.ErrCodeFlowControl, "stream window too large"})
	}
	st.window += more
	c.resume(st)
	return nil
}

// resume moves queued data of a stream whose window may have opened to the outgoing buffer. mu is
// held.
func (c *conn) resume(st *stream) {
	if st.queue.active && st.window > 0 {
		c.out.push(st)
		c.moveWaiting()
		c.wakeWriter()
	}
}

func (c *conn) onReset(f *http2.RSTStreamFrame) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idleStream(f.StreamID) {
		return protocolFault("RST_STREAM on an idle stream")
	}
	st := c.streams.open[f.StreamID]
	if st == nil {
		return nil
	}
	c.server.metrics.resets.Inc()
	st.abort(errReset, false)
	if !c.in.resets.spend() {
		return limitExceeded(limitResets, "too many streams reset")
	}
	return nil
}

func (c *conn) onPing(f *http2.PingFrame) error {
	if err := c.countIdleFrame(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.IsAck() {
		if c.drainPing && f.Data == drainPing() {
			c.beginDraining()
		}
		return nil
	}
	if c.out.closed {
		return nil
	}
	c.out.buf = appendPing(c.outBuffer(), f.Data, true)
	c.wakeWriter()
	return c.countReply()
}

func (c *conn) onSettings(f *http2.SettingsFrame) error {
	if err := c.countIdleFrame(); err != nil || f.IsAck() {
		return err
	}
	if f.NumSettings() > maxSettings {
		return &connFault{code: http2.ErrCodeProtocol, why: "too many settings", limit: limitSettings}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	window := c.streams.window
	if err := f.ForeachSetting(c.set); err != nil {
		return err
	}
	// The acknowledgement precedes the data that the settings allow (RFC 9113 §6.5.3).
	if !c.out.closed {
		c.out.buf = appendSettingsAck(c.outBuffer())
		c.wakeWriter()
	}
	if c.streams.window != window {
		for _, st := range c.streams.open {
			c.resume(st)
		}
	}
	if c.out.closed {
		return nil
	}
	return c.countReply()
}

// set applies one of the client's settings. A frame may contain a setting more than once: its
// values apply in order, and no stream sends in between (RFC 9113 §6.5.3). Each value counts as an
// idle frame, because a change of the window visits every open stream. mu is held.
func (c *conn) set(s http2.Setting) error {
	if err := c.countIdleFrame(); err != nil {
		return err
	}
	if err := s.Valid(); err != nil {
		return err
	}
	switch s.ID {
	case http2.SettingMaxFrameSize:
		// Larger frames would only make the other streams wait longer.
		c.out.maxFrame = min(int(s.Val), maxFrameBytes)
	case http2.SettingInitialWindowSize:
		return c.setWindow(int64(s.Val))
	}
	// The encoder uses no dynamic table, and the server pushes nothing, so HEADER_TABLE_SIZE and
	// ENABLE_PUSH have no effect.
	return nil
}

// setWindow sets the initial window of new streams and changes the windows of open streams by the
// difference (RFC 9113 §6.9.2). mu is held.
func (c *conn) setWindow(size int64) error {
	more := size - c.streams.window
	c.streams.window = size
	for _, st := range c.streams.open {
		if st.window+more > maxWindow {
			return &connFault{code: http2.ErrCodeFlowControl, why: "stream window too large"}
		}
		st.window += more
	}
	return nil
}
