package apiserver

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// gate bounds the requests of one class that are served at the same time.
type gate struct {
	max  int64
	in   atomic.Int64
	hits prometheus.Counter
}

func (g *gate) enter() bool {
	if g.in.Add(1) <= g.max {
		return true
	}
	g.in.Add(-1)
	g.hits.Inc()
	return false
}

func (g *gate) leave() { g.in.Add(-1) }

// requestIDs returns ids that are unique across nodes and restarts: a random prefix and a counter.
type requestIDs struct {
	prefix string
	count  atomic.Uint64
}

func newRequestIDs() string {
	var b [8]byte
	// crypto/rand never fails: it stops the process instead.
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:]) + "-"
}

func (r *requestIDs) next() string {
	var b [40]byte
	out := append(b[:0], r.prefix...)
	return string(strconv.AppendUint(out, r.count.Add(1), 16))
}
