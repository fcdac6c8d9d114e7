package gossip

import (
	"context"
	"net"
	"sync"

	"quorate/raftstore/addresskey"
)

const (
	// maxStreams bounds the connections that are read at a time. A message is read whole before its
	// key can be checked, so this bounds what strangers can take up.
	maxStreams = 32
	// maxStreamsPerAddress leaves connections for others if one address or IPv6 network (package
	// addresskey) opens many and sends nothing.
	maxStreamsPerAddress = 8
	// maxStreamBytes bounds what is read of one connection: a node takes some 300 bytes in the
	// state that nodes exchange, so this is enough for thousands.
	maxStreamBytes = 1 << 20
)

// The bounds that can be hit: the values of the label "limit".
const (
	limitStreams        = "streams"
	limitAddressStreams = "streams_per_address"
	limitStreamBytes    = "stream_bytes"
	limitStreamTime     = "stream_time"
	limitLogLines       = "log_lines"
	limitRepeatedLines  = "repeated_lines"
	limitFindings       = "findings"
)

// streams admits connections from others to memberlist, up to the bounds above.
type streams struct {
	g        *Gossip
	admitted chan net.Conn

	mu        sync.Mutex
	total     int            // guarded by mu
	byAddress map[string]int // by addresskey.Of; guarded by mu
}

func newStreams(g *Gossip) *streams {
	return &streams{g: g, admitted: make(chan net.Conn), byAddress: make(map[string]int)}
}

// running runs functions until the function that it returns is called, which waits for their end.
func running(functions ...func(ctx context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var started sync.WaitGroup
	for _, run := range functions {
		started.Go(func() { run(ctx) })
	}
	return func() {
		cancel()
		started.Wait()
	}
}

// run passes accepted connections on until ctx ends, and closes those over a bound: their senders
// retry with the next exchange.
func (s *streams) run(ctx context.Context, accepted <-chan net.Conn) {
	for {
		select {
		case <-ctx.Done():
			return
		case c := <-accepted:
			admitted, limit := s.admit(c)
			if limit != "" {
				s.g.metrics.limits.WithLabelValues(limit).Inc()
				_ = c.Close() // its sender sees the end, or has gone
				continue
			}
			select {
			case s.admitted <- admitted:
			case <-ctx.Done():
				_ = admitted.Close()
				return
			}
		}
	}
}

// admit counts a connection, or returns the bound that it is over.
func (s *streams) admit(c net.Conn) (admitted net.Conn, limit string) {
	from := c.RemoteAddr()
	key := addresskey.Of(from.String())
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.total >= maxStreams:
		return nil, limitStreams
	case s.byAddress[key] >= maxStreamsPerAddress:
		return nil, limitAddressStreams
	}
	s.total++
	s.byAddress[key]++
	return &conn{
		Conn: c, key: s.g.key, metrics: s.g.metrics, left: maxStreamBytes,
		received: func(err error) error { return s.g.accepted(from, err) },
		onClose:  func() { s.release(key) },
	}, ""
}

func (s *streams) release(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total--
	if s.byAddress[key]--; s.byAddress[key] == 0 {
		delete(s.byAddress, key)
	}
}
