package snapshotrpc

import (
	"context"
	"io"
	"time"

	"golang.org/x/time/rate"
)

const (
	// chunkBytes is the size of the data in one message. It is small, so that several transfers share
	// the rate evenly, and that what is sent at once does not delay other messages.
	chunkBytes = 128 << 10
	// burstsPerSecond divides the rate: so much, or a chunk, may exceed it at once. A high rate would
	// not be reached if a timer had to expire for each chunk.
	burstsPerSecond = 100
)

// limit keeps all transfers of a node together to a rate.
type limit struct {
	limiter *rate.Limiter
	metrics *senderMetrics
}

// newLimit returns a limit of bytes in a second, of any number if that is 0.
func newLimit(bytesPerSecond int64, m *senderMetrics) *limit {
	most := rate.Inf
	if bytesPerSecond > 0 {
		most = rate.Limit(bytesPerSecond)
	}
	return &limit{rate.NewLimiter(most, int(max(chunkBytes, bytesPerSecond/burstsPerSecond))), m}
}

// wait waits until n bytes, at most chunkBytes, may be sent. Transfers that wait take turns. It
// returns an error if ctx ends first.
func (l *limit) wait(ctx context.Context, n int) error {
	start := time.Now()
	l.metrics.waiting.Inc()
	err := l.limiter.WaitN(ctx, n)
	l.metrics.waiting.Dec()
	l.metrics.waitSeconds.Add(time.Since(start).Seconds())
	return err
}

// limitedReader reads no faster than the limit, until ctx ends.
type limitedReader struct {
	ctx   context.Context
	from  io.Reader
	limit *limit
}

// Read implements io.Reader.
func (r *limitedReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p[:min(len(p), chunkBytes)])
	if waited := r.limit.wait(r.ctx, n); waited != nil {
		return 0, waited
	}
	r.limit.metrics.sentBytes.Add(float64(n))
	return n, err
}
