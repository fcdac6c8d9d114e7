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

// incoming is the reader's side of a connection; no other goroutine touches it.
type incoming struct {
	conn   *conn
	br     *bufio.Reader
	framer *http2.Framer
	hpack  *hpack.Decoder
	head   requestHead
	names  map[string]string // canonical forms of uncommon field names

	settings bool      // the client's first settings have come
	resets   allowance // streams reset
	useless  allowance // frames that bring nothing
	watch    watch
}

// watch is what tells the passing of time on a connection. Times are counted in ticks: reading frames costs no look at the clock.
type watch struct {
	bytes, blocks uint64 // read so far
	inBlock       bool   // a header block, or the client's greeting, has come in part

	seenBytes, seenBlocks, seenOpened, seenWrites uint64        // at the last tick
	quiet, inside, idle, stalled                  time.Duration // for how long nothing has changed
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
	in.useless = newAllowance(maxIdleFrames, idleFramePeriod)
	in.watch.inBlock = true // until the client has greeted
}

// Read implements io.Reader for the frames. What is due by time is done here.
func (in *incoming) Read(p []byte) (int, error) {
	for {
		n, err := in.conn.nc.Read(p)
		in.watch.bytes += uint64(n)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if err := in.tick(); err != nil {
			return 0, err
		}
	}
}

// tick looks at what time has brought, and says when to look again.
func (in *incoming) tick() error {
	c, w := in.conn, &in.watch
	b := &c.server.bounds
	w.quiet = age(w.quiet, b.tick, w.seenBytes == w.bytes)
	w.inside = age(w.inside, b.tick, w.inBlock && w.seenBlocks == w.blocks)
	w.seenBytes, w.seenBlocks = w.bytes, w.blocks
	if w.quiet == 0 {
		w.pinged = false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	w.idle = age(w.idle, b.tick, len(c.streams.open) == 0 && w.seenOpened == c.opened)
	w.stalled = age(w.stalled, b.tick, c.out.busy && w.seenWrites == c.out.writes)
	w.seenOpened, w.seenWrites = c.opened, c.out.writes
	if err := in.overdue(); err != nil {
		return err
	}
	if b.idle > 0 && w.idle >= b.idle || c.drainPing {
		c.seal()
	}
	if c.phase < finishing && b.pingAfter > 0 && w.quiet >= b.pingAfter && !w.pinged {
		w.pinged = true
		c.out.buf = appendPing(c.room(), alivePing(), false)
		c.nudge()
	}
	return c.nc.SetReadDeadline(time.Now().Add(b.tick))
}

// overdue says what the connection is to end for. mu is held.
func (in *incoming) overdue() error {
	c, w := in.conn, &in.watch
	b, m := &c.server.bounds, c.server.metrics
	switch {
	case c.lingering:
		return errDone
	case b.header > 0 && w.inside >= b.header:
		return excess(limitHeaderTime, "header or greeting did not come in time")
	case w.pinged && w.quiet >= b.pingAfter+b.pingTimeout:
		m.hit(limitPing)
		return errNoPeer
	case w.stalled >= b.writeStall:
		m.hit(limitWriteStall)
		return errStalled
	}
	return nil
}

func age(d, tick time.Duration, older bool) time.Duration {
	if older {
		return d + tick
	}
	return 0
}

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

// next reads one frame, or header block, and acts on it.
func (c *conn) next() error {
	in := &c.in
	fh, err := in.framer.ReadFrameHeader()
	if err == nil && fh.Type == http2.FrameHeaders {
		in.watch.inBlock = true
		in.watch.blocks++
	}
	var f http2.Frame
	if err == nil {
		f, err = in.framer.ReadFrameForHeader(fh)
	}
	if err == nil && !in.settings {
		err = in.first(f)
	}
	if err == nil {
		err = c.handle(f)
	}
	in.watch.inBlock = !in.settings
	return c.judge(err, fh)
}

func (in *incoming) first(f http2.Frame) error {
	if sf, ok := f.(*http2.SettingsFrame); !ok || sf.IsAck() {
		return protocolFault("the first frame is not SETTINGS")
	}
	in.settings = true
	return nil
}

// judge tells errors that end the connection, which it returns, from those that end a stream.
func (c *conn) judge(err error, fh http2.FrameHeader) error {
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

// breakStream tells the client that a stream is broken off; st is nil when it is not open. Handlers learn of it through their
// context, too. mu is held.
func (c *conn) breakStream(st *stream, f *streamFault) error {
	c.server.metrics.faults.WithLabelValues("stream", f.code.String()).Inc()
	if !c.in.resets.spend() {
		return excess(limitResets, "too many streams to reset")
	}
	if err := c.reply(); err != nil {
		return err
	}
	if st == nil {
		c.streams.remember(f.id, true) // more of it may be on its way
		if !c.out.closed {
			c.out.buf = appendReset(c.room(), f.id, f.code)
			c.nudge()
		}
		return nil
	}
	st.reset(f.code, fmt.Errorf("%w: %s", errBroken, f.why))
	c.mu.Unlock()
	st.cancel()
	c.mu.Lock()
	return nil
}
