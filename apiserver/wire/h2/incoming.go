package h2

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// incoming is the receiving side of a connection. Only the reader uses it.
type incoming struct {
	conn   *conn
	br     *bufio.Reader
	framer *http2.Framer
	hpack  *hpack.Decoder
	head   requestHead
	names  map[string]string // uncommon field names and their canonical forms

	settings   bool      // the client's first SETTINGS frame has arrived
	resets     allowance // streams reset, by either side
	idleFrames allowance // frames that carry no data and start no request
	timers     timers
}

// timers measures how long a connection has been idle or stalled, in ticks, so that reading a frame
// does not read the clock.
type timers struct {
	bytes, blocks uint64 // received so far
	inBlock       bool   // a header block or the client's preface has begun and not ended

	seenBytes, seenBlocks, seenOpened, seenWrites uint64        // values at the last tick
	quiet, inHeader, idle, stalled                time.Duration // time without a change
	pinged                                        bool
}

func (in *incoming) init(c *conn) {
	in.conn = c
	in.br = bufio.NewReader(in)
	in.framer = http2.NewFramer(nil, in.br)
	in.framer.SetReuseFrames()
	in.framer.SetMaxReadFrameSize(maxFrameBytes)
	in.head.max = c.server.bounds.maxHeaderList
	in.head.names = in
	in.hpack = hpack.NewDecoder(4096, in.head.add)
	in.hpack.SetMaxStringLength(int(c.server.bounds.maxHeaderList))
	in.resets = newAllowance(c.server.bounds.maxResets, resetPeriod)
	in.idleFrames = newAllowance(maxIdleFrames, idleFramePeriod)
	in.timers.inBlock = true // until the first SETTINGS frame
}

// Read implements io.Reader for the framer. It calls tick whenever the read deadline expires.
func (in *incoming) Read(p []byte) (int, error) {
	for {
		n, err := in.conn.nc.Read(p)
		in.timers.bytes += uint64(n)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if err := in.tick(); err != nil {
			return 0, err
		}
	}
}

// tick advances the timers, acts on those that have expired, and sets the read deadline to the next
// tick. It returns the error that ends the connection, if a timer demands that.
func (in *incoming) tick() error {
	c, w := in.conn, &in.timers
	b := &c.server.bounds
	w.quiet = elapsed(w.quiet, b.tick, w.seenBytes == w.bytes)
	w.inHeader = elapsed(w.inHeader, b.tick, w.inBlock && w.seenBlocks == w.blocks)
	w.seenBytes, w.seenBlocks = w.bytes, w.blocks
	if w.quiet == 0 {
		w.pinged = false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	w.idle = elapsed(w.idle, b.tick, len(c.streams.open) == 0 && w.seenOpened == c.opened)
	w.stalled = elapsed(w.stalled, b.tick, c.out.busy && w.seenWrites == c.out.writes)
	w.seenOpened, w.seenWrites = c.opened, c.out.writes
	if err := in.overdue(); err != nil {
		return err
	}
	if b.idle > 0 && w.idle >= b.idle || c.drainPing {
		c.beginDraining()
	}
	if c.phase < finishing && b.pingAfter > 0 && w.quiet >= b.pingAfter && !w.pinged {
		w.pinged = true
		c.out.buf = appendPing(c.outBuffer(), alivePing(), false)
		c.wakeWriter()
	}
	return c.nc.SetReadDeadline(time.Now().Add(b.tick))
}

// overdue returns the error of a timer for which the connection must end, or nil. mu is held.
func (in *incoming) overdue() error {
	c, w := in.conn, &in.timers
	b, m := &c.server.bounds, c.server.metrics
	switch {
	case c.writeClosed:
		return errDone
	case b.header > 0 && w.inHeader >= b.header:
		return limitExceeded(limitHeaderTime, "header or greeting did not come in time")
	case w.pinged && w.quiet >= b.pingAfter+b.pingTimeout:
		m.hit(limitPing)
		return errNoPeer
	case w.stalled >= b.writeStall:
		m.hit(limitWriteStall)
		return errStalled
	}
	return nil
}

// elapsed adds a tick to d, or returns 0 if older is false.
func elapsed(d, tick time.Duration, older bool) time.Duration {
	if older {
		return d + tick
	}
	return 0
}

// preface reads the client's connection preface.
func (in *incoming) preface() error {
	var b [len(http2.ClientPreface)]byte
	if _, err := io.ReadFull(in.br, b[:]); err != nil {
		return err
	}
	if !bytes.Equal(b[:], []byte(http2.ClientPreface)) {
		return errBadPreface
	}
	return nil
}

// handleNext reads and handles one frame, or a whole header block. It returns only errors that end
// the connection.
func (c *conn) handleNext() error {
	in := &c.in
	fh, err := in.framer.ReadFrameHeader()
	if err == nil && fh.Type == http2.FrameHeaders {
		in.timers.inBlock = true
		in.timers.blocks++
	}
	var f http2.Frame
	if err == nil {
		f, err = in.framer.ReadFrameForHeader(fh)
	}
	if err == nil && !in.settings {
		err = in.checkFirst(f)
	}
	if err == nil {
		err = c.handle(f)
	}
	in.timers.inBlock = !in.settings
	return c.handleError(err, fh)
}

// checkFirst checks that the first frame of the client is SETTINGS.
func (in *incoming) checkFirst(f http2.Frame) error {
	if sf, ok := f.(*http2.SettingsFrame); !ok || sf.IsAck() {
		return protocolFault("the first frame is not SETTINGS")
	}
	in.settings = true
	return nil
}

// handleError returns an error that ends the connection. It handles a stream error by resetting the
// stream, and returns nil.
func (c *conn) handleError(err error, fh http2.FrameHeader) error {
	if err == nil {
		return nil
	}
	var (
		stream *streamFault
		theirs http2.StreamError
		whole  http2.ConnectionError
	)
	switch {
	case errors.As(err, &stream):
	case errors.As(err, &theirs):
		stream = &streamFault{theirs.StreamID, theirs.Code, fmt.Sprint(c.in.framer.ErrorDetail())}
	case errors.As(err, &whole):
		return &connFault{code: http2.ErrCode(whole), why: fmt.Sprintf("%v: %v", fh, c.in.framer.ErrorDetail())}
	case errors.Is(err, http2.ErrFrameTooLarge):
		return &connFault{code: http2.ErrCodeFrameSize, why: "frame too large"}
	default:
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idleStream(stream.id) {
		return &connFault{code: stream.code, why: stream.why + ", on a stream that is idle"}
	}
	return c.breakStream(c.streams.open[stream.id], stream)
}

// breakStream resets a stream because of a stream error. st is nil if the stream is not open. It
// returns an error if the client has caused too many resets, or if too many replies wait to be
// written. mu is held.
func (c *conn) breakStream(st *stream, f *streamFault) error {
	c.server.metrics.faults.WithLabelValues("stream", f.code.String()).Inc()
	if !c.in.resets.spend() {
		return limitExceeded(limitResets, "too many streams to reset")
	}
	if err := c.countReply(); err != nil {
		return err
	}
	if st == nil {
		c.streams.rememberClosed(f.id, true) // further frames of the stream may arrive
		if !c.out.closed {
			c.out.buf = appendReset(c.outBuffer(), f.id, f.code)
			c.wakeWriter()
		}
		return nil
	}
	st.reset(f.code, fmt.Errorf("%w: %s", errBroken, f.why))
	return nil
}
