package h2

import (
	"net/http"
	"time"
)

const (
	// defaultMaxStreams is the number of requests under way on a connection, unless http.HTTP2Config says otherwise.
	defaultMaxStreams = 250
	// handlersPerStream times the streams is how many handlers may run: those of streams that were reset still do for a moment.
	handlersPerStream = 2

	// maxFrameBytes is the largest frame payload taken: the protocol's default, so it needs no announcement.
	maxFrameBytes = 16 << 10
	// defaultConnWindow and defaultStreamWindow bound what is kept of request bodies that handlers have not read.
	defaultConnWindow   = 1 << 20
	defaultStreamWindow = 256 << 10
	// firstWindow is any window before the first word about it; maxWindow is the largest there may be.
	firstWindow = 1<<16 - 1
	maxWindow   = 1<<31 - 1

	// maxContinuations bounds the frames of one header block.
	maxContinuations = 32
	// headerListSlack is added to http.Server.MaxHeaderBytes: the protocol counts 32 bytes more for each field.
	headerListSlack = 10 * 32

	// maxQueuedBytes is how much may wait to be written before handlers wait.
	maxQueuedBytes = 256 << 10
	// maxQueuedControl is how many answers to control frames may wait to be written: a client that asks without reading is cut off.
	maxQueuedControl = 2000
	// writeBytes is how much is written at a time: a write makes progress or the client is stuck.
	writeBytes = 64 << 10
	// bodyBytes is how much of an answer is collected before it goes out unasked.
	bodyBytes = 16 << 10
	// maxPooledBytes is the largest buffer that is kept for another use.
	maxPooledBytes = 2 * maxQueuedBytes

	// maxResets is how many streams may be reset, by either side, in a period of resetPeriod, for each stream that may be open.
	maxResets   = 20
	resetPeriod = 10 * time.Second
	// maxIdleFrames is how many frames that bring nothing may come in a period of idleFramePeriod.
	maxIdleFrames   = 10000
	idleFramePeriod = 10 * time.Second
	// maxSettings bounds the parameters in one SETTINGS frame.
	maxSettings = 100

	// recentStreams is how many closed streams are remembered to tell a late frame from a wrong one.
	recentStreams = 128
	// maxCachedNames bounds the field names remembered with their canonical form.
	maxCachedNames = 64
	// maxCachedNameBytes is the longest of them: a connection remembers at most maxCachedNames times as much, twice over.
	maxCachedNameBytes = 64

	// minTick and maxTick bound how often a connection looks at the time.
	minTick = 5 * time.Millisecond
	maxTick = 5 * time.Second
	// ticksPerTimeout is how exactly timeouts are kept.
	ticksPerTimeout = 4
	// lingerTime is how long the last words of a connection may take to arrive.
	lingerTime = time.Second
	// defaultWriteStall is how long one write may wait for the client to take it.
	defaultWriteStall = 30 * time.Second
	// finishTimeout is how long the rest of an answer may wait for its client when the handler has returned.
	finishTimeout = 60 * time.Second
)

// bounds are what the http.Server was configured with.
type bounds struct {
	maxStreams    int
	maxHandlers   int
	maxResets     int
	maxHeaderList uint32
	connWindow    int32
	streamWindow  int32
	idle          time.Duration // 0 for no limit, as all below
	header        time.Duration
	pingAfter     time.Duration
	pingTimeout   time.Duration
	writeStall    time.Duration
	read, write   time.Duration
	tick          time.Duration
}

func newBounds(srv *http.Server) bounds {
	var conf http.HTTP2Config
	if srv.HTTP2 != nil {
		conf = *srv.HTTP2
	}
	b := bounds{
		maxStreams:    within(conf.MaxConcurrentStreams, defaultMaxStreams, 1<<20),
		maxHeaderList: uint32(within(srv.MaxHeaderBytes, http.DefaultMaxHeaderBytes, 64<<20)) + headerListSlack,
		connWindow:    int32(max(within(conf.MaxReceiveBufferPerConnection, defaultConnWindow, maxWindow), firstWindow)),
		streamWindow:  int32(within(conf.MaxReceiveBufferPerStream, defaultStreamWindow, maxWindow)),
		idle:          srv.IdleTimeout,
		header:        srv.ReadHeaderTimeout,
		pingAfter:     conf.SendPingTimeout,
		pingTimeout:   conf.PingTimeout,
		writeStall:    conf.WriteByteTimeout,
		read:          srv.ReadTimeout,
		write:         srv.WriteTimeout,
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

// within returns v, or what to use when it is not set, but no more than limit.
func within(v, otherwise, limit int) int {
	if v <= 0 {
		v = otherwise
	}
	return min(v, limit)
}

// allowance bounds how often something may happen in a period. It looks at the clock only when it is used up.
type allowance struct {
	left, max int
	period    time.Duration
	since     time.Time
}

func newAllowance(limit int, period time.Duration) allowance {
	return allowance{left: limit, max: limit, period: period, since: time.Now()}
}

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
