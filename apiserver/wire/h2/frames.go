package h2

import (
	"golang.org/x/net/http2"
)

// handle acts on one frame; header blocks are read to their end.
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
		// The client opens no more streams; those open are finished, and the client closes.
		return c.tolerate()
	case *http2.PriorityFrame:
		return c.onPriority(f)
	default:
		return c.tolerate()
	}
}

// tolerate counts a frame that brings nothing.
func (c *conn) tolerate() error {
	if !c.in.useless.spend() {
		return excess(limitIdleFrames, "too many frames that bring nothing")
	}
	return nil
}

// onPriority refuses a stream that depends on itself (RFC 7540 §5.3.1). Priorities are deprecated (RFC 9113 §5.3.2) and otherwise
// ignored.
func (c *conn) onPriority(f *http2.PriorityFrame) error {
	if err := c.tolerate(); err != nil {
		return err
	}
	if f.StreamDep == f.StreamID {
		return &streamFault{f.StreamID, http2.ErrCodeProtocol, dependsOnItself}
	}
	return nil
}

// idleStream reports whether a stream has not been begun. mu is held.
func (c *conn) idleStream(id uint32) bool { return id%2 == 0 || id > c.streams.last }

func (c *conn) onData(f *http2.DataFrame) error {
	if len(f.Data()) == 0 && !f.StreamEnded() {
		if err := c.tolerate(); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idleStream(f.StreamID) {
		return protocolFault("DATA on an idle stream")
	}
	length := int32(f.Length)
	if !c.window.take(length) {
		return &connFault{code: http2.ErrCodeFlowControl, why: "more data than the connection's window"}
	}
	st := c.streams.open[f.StreamID]
	if st != nil && !st.gotEnd {
		return c.came(st, f.Data(), length, f.StreamEnded())
	}
	c.give(nil, int(length))
	if _, byUs := c.streams.recall(f.StreamID); st == nil && byUs {
		return nil // it was on its way when we closed
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
		c.fill()
		c.nudge()
		return nil
	}
	if c.idleStream(f.StreamID) {
		return protocolFault("WINDOW_UPDATE on an idle stream")
	}
	st := c.streams.open[f.StreamID]
	if st == nil {
		return nil // it was on its way when the stream ended
	}
	if st.window+more > maxWindow {
		return c.breakStream(st, &streamFault{st.id, http2.ErrCodeFlowControl, "stream window too large"})
	}
	st.window += more
	c.resume(st)
	return nil
}

// resume goes on with a stream whose window may have opened. mu is held.
func (c *conn) resume(st *stream) {
	if st.queue.active && st.window > 0 {
		c.out.push(st)
		c.fill()
		c.nudge()
	}
}

func (c *conn) onReset(f *http2.RSTStreamFrame) error {
	st, err := c.takeReset(f.StreamID)
	if st != nil {
		st.cancel()
	}
	return err
}

func (c *conn) takeReset(id uint32) (*stream, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idleStream(id) {
		return nil, protocolFault("RST_STREAM on an idle stream")
	}
	st := c.streams.open[id]
	if st == nil {
		return nil, nil
	}
	c.server.metrics.resets.Inc()
	st.breakOff(errReset, false)
	if !c.in.resets.spend() {
		return st, excess(limitResets, "too many streams reset")
	}
	return st, nil
}

func (c *conn) onPing(f *http2.PingFrame) error {
	if err := c.tolerate(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.IsAck() {
		if c.drainPing && f.Data == drainPing() {
			c.seal()
		}
		return nil
	}
	if c.out.closed {
		return nil
	}
	c.out.buf = appendPing(c.room(), f.Data, true)
	c.nudge()
	return c.reply()
}

func (c *conn) onSettings(f *http2.SettingsFrame) error {
	if err := c.tolerate(); err != nil || f.IsAck() {
		return err
	}
	if f.NumSettings() > maxSettings {
		return protocolFault("too many settings")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	window := c.streams.window
	if err := f.ForeachSetting(c.set); err != nil {
		return err
	}
	// The acknowledgement precedes the data that the settings allow (RFC 9113 §6.5.3).
	if !c.out.closed {
		c.out.buf = appendSettingsAck(c.room())
		c.nudge()
	}
	if c.streams.window != window {
		for _, st := range c.streams.open {
			c.resume(st)
		}
	}
	if c.out.closed {
		return nil
	}
	return c.reply()
}

// set applies one of the client's settings. A setting may be repeated: the values apply in order, and no stream sends anything in
// between (RFC 9113 §6.5.3). Each value counts towards the limit on frames without effect, since a change of the window visits
// every open stream. mu is held.
func (c *conn) set(s http2.Setting) error {
	if err := c.tolerate(); err != nil {
		return err
	}
	if err := s.Valid(); err != nil {
		return err
	}
	switch s.ID {
	case http2.SettingMaxFrameSize:
		// Larger frames would only make streams wait longer for each other.
		c.out.maxFrame = min(int(s.Val), maxFrameBytes)
	case http2.SettingInitialWindowSize:
		return c.setWindow(int64(s.Val))
	}
	// HEADER_TABLE_SIZE is of no interest to an encoder without a table, ENABLE_PUSH to a server that pushes nothing.
	return nil
}

// setWindow changes the windows of all streams, open ones too (RFC 9113 §6.9.2). mu is held.
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
