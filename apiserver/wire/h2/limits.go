package h2

import (
	"net/http"
	"time"
)

const (
	// defaultMaxStreams is the number of concurrent requests on a connection, unless
	// http.HTTP2Config sets another one.
	defaultMaxStreams = 250
	// handlersPerStream times the maximum of streams is the number of handlers that may run: the
	// handler of a stream that was reset runs on until it notices.
	handlersPerStream = 2

	// maxFrameBytes is the largest frame payload that the server accepts: the protocol's default.
	maxFrameBytes = 16 << 10
	// defaultConnWindow and defaultStreamWindow bound the memory for request bodies that handlers
	// have not read.
	defaultConnWindow   = 1 << 20
	defaultStreamWindow = 256 << 10
	// firstWindow is the initial size of every window; maxWindow is the largest size allowed.
	firstWindow = 1<<16 - 1
	maxWindow   = 1<<31 - 1

	// maxContinuations bounds the frames of one header block.
	maxContinuations = 32
	// headerListSlack is added to http.Server.MaxHeaderBytes, because HTTP/2 counts 32 bytes of
	// overhead for each field.
	headerListSlack = 10 * 32

	// maxQueuedBytes is the size of the outgoing buffer at which handlers begin to wait.
	maxQueuedBytes = 256 << 10
	// maxQueuedControl is the number of replies to control frames that may wait in the outgoing
	// buffer. The server disconnects a client that sends such frames but does not read.
	maxQueuedControl = 2000
	// writeBytes is the largest single write. A client that does not read this much in time is
	// stalled.
	writeBytes = 64 << 10
	// bodyBytes is how much of a response body is collected before it is sent without a Flush.
	bodyBytes = 16 << 10
	// maxPooledBytes is the largest buffer that returns to a pool.
	maxPooledBytes = 2 * maxQueuedBytes

	// maxResets times the maximum of streams is the number of streams that may be reset, by either
	// side, in resetPeriod.
	maxResets   = 20
	resetPeriod = 10 * time.Second
	// maxIdleFrames is the number of frames that carry no data and start no request which a client
	// may send in idleFramePeriod.
	maxIdleFrames   = 10000
	idleFramePeriod = 10 * time.Second
	// maxSettings bounds the parameters in one SETTINGS frame.
	maxSettings = 100

	// recentStreams is the number of closed streams that a connection remembers, to tell a late
	// frame from a protocol error.
	recentStreams = 128
	// maxCachedNames is the number of field names that a connection remembers with their canonical
	// forms.
	maxCachedNames = 64
	// maxCachedNameBytes is the length of the longest remembered name. A connection remembers at
	// most 2 * maxCachedNames * maxCachedNameBytes.
	maxCachedNameBytes = 64

	// minTick and maxTick bound the interval at which a connection checks its timeouts.
	minTick = 5 * time.Millisecond
	maxTick = 5 * time.Second
	// ticksPerTimeout is the number of ticks in the shortest timeout, and so the precision of
	// timeouts.
	ticksPerTimeout = 4
	// lingerTime is how long a connection stays open after an error so that its last frames reach
	// the client, and how long a drained one waits for the acknowledgement of its PING.
	lingerTime = time.Second
	// resetAfter is how long a client may go on to send a request after its complete response. The
	// server drops what arrives, up to the window of the stream.
	resetAfter = time.Second
	// defaultWriteStall is how long one write may block on the client.
	defaultWriteStall = 30 * time.Second
	// defaultResponseTimeout is how long a response whose handler sets no write deadline may wait
	// for the client, counted from the first time that it waits.
	defaultResponseTimeout = 60 * time.Second
)

// bounds holds the limits and timeouts of an http.Server's configuration.
type bounds struct {
	maxStreams    int
	maxHandlers   int
	maxResets     int
	maxHeaderList uint32
	connWindow    int32
	streamWindow  int32
	idle          time.Duration // 0 means no limit, also in the fields below
	header        time.Duration
	pingAfter     time.Duration
	pingTimeout   time.Duration
	writeStall    time.Duration
	read, write   time.Duration
	response      time.Duration // of responses without a write deadline
	tick          time.Duration
}

// newBounds returns the bounds of a server, with defaults for those that are not configured.
func newBounds(srv *http.Server, opts Options) bounds {
	var conf http.HTTP2Config
	if srv.HTTP2 != nil {
		conf = *srv.HTTP2
	}
	b := bounds{
		maxStreams:    orDefault(conf.MaxConcurrentStreams, defaultMaxStreams, 1<<20),
		maxHeaderList: uint32(orDefault(srv.MaxHeaderBytes, http.DefaultMaxHeaderBytes, 64<<20)) + headerListSlack,
		connWindow:    int32(max(orDefault(conf.MaxReceiveBufferPerConnection, defaultConnWindow, maxWindow), firstWindow)),
		streamWindow:  int32(orDefault(conf.MaxReceiveBufferPerStream, defaultStreamWindow, maxWindow)),
		idle:          srv.IdleTimeout,
		header:        srv.ReadHeaderTimeout,
		pingAfter:     conf.SendPingTimeout,
		pingTimeout:   conf.PingTimeout,
		writeStall:    conf.WriteByteTimeout,
		read:          srv.ReadTimeout,
		write:         srv.WriteTimeout,
		response:      opts.ResponseTimeout,
		tick:          maxTick,
	}
	b.maxHandlers = handlersPerStream * b.maxStreams
	b.maxResets = maxResets * b.maxStreams
	if b.idle == 0 {
		b.idle = srv.ReadTimeout
	}
	if b.header == 0 {
		b.header = srv.ReadTimeout
	}
	if b.writeStall == 0 {
		b.writeStall = defaultWriteStall
	}
	if b.response == 0 {
		b.response = defaultResponseTimeout
	}
	if b.pingTimeout == 0 {
		b.pingTimeout = 15 * time.Second
	}
	for _, d := range []time.Duration{b.idle, b.header, b.pingAfter, b.pingTimeout, b.writeStall} {
		if d > 0 {
			b.tick = max(min(b.tick, d/ticksPerTimeout), minTick)
		}
	}
	return b
}

// orDefault returns v, or def if v is not positive, but at most limit.
func orDefault(v, def, limit int) int {
	if v <= 0 {
		v = def
	}
	return min(v, limit)
}

// allowance bounds the number of events in a period. It reads the clock only when it is used up.
type allowance struct {
	left, max int
	period    time.Duration
	since     time.Time
}

func newAllowance(limit int, period time.Duration) allowance {
	return allowance{left: limit, max: limit, period: period, since: time.Now()}
}

// spend counts an event and reports whether it is allowed.
func (a *allowance) spend() bool {
	if a.left == 0 {
		now := time.Now()
		if now.Sub(a.since) < a.period {
			return false
		}
		a.since, a.left = now, a.max
	}
	a.left--
	return true
}
