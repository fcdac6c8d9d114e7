package snapshotrpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"quorate/raftstore/transport"
)

const (
	// defaultStallTimeout is how long either side waits for the other's next step. It exceeds the
	// syncs of a slow disk, and the time that a chunk takes if many followers share a low rate.
	defaultStallTimeout = time.Minute
	// defaultResumeTimeout is how long the leader waits for more bytes to arrive at a follower
	// whose transfer broke. The log holds the entries after the snapshot for as long.
	defaultResumeTimeout = time.Minute
	// minPause and maxPause bound the pauses between attempts to resume a transfer.
	minPause = 50 * time.Millisecond
	maxPause = time.Second
	// connectTimeout bounds an attempt to connect.
	connectTimeout = 5 * time.Second
)

var (
	errStalled   = errors.New("the follower takes nothing more")
	errNotLeader = errors.New("this node no longer leads in the term of the request")
)

// SenderConfig configures a Sender; all fields but Rate are required.
type SenderConfig struct {
	// Connect returns a gRPC client connection to a peer address, like transport.Mux.Connect.
	Connect   func(name, address string, options ...grpc.DialOption) (*grpc.ClientConn, error)
	ClusterID func() string
	// Term returns the term that this node is in.
	Term func() uint64
	// Rate bounds the bytes that all transfers together send in a second; 0 means no bound.
	Rate       int64
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// Sender is the leader's side of transfers. Its methods are safe for concurrent use. It implements
// transport.SnapshotSender.
type Sender struct {
	cfg           SenderConfig
	limit         *limit
	metrics       *senderMetrics
	stallTimeout  time.Duration
	resumeTimeout time.Duration
}

var _ transport.SnapshotSender = (*Sender)(nil)

// NewSender returns a Sender that sends nothing yet.
func NewSender(cfg SenderConfig) *Sender {
	m := newSenderMetrics(cfg.Registerer)
	return &Sender{
		cfg: cfg, metrics: m, limit: newLimit(cfg.Rate, m), stallTimeout: defaultStallTimeout, resumeTimeout: defaultResumeTimeout,
	}
}

// Limit returns a reader that keeps to the rate together with all transfers, until ctx ends.
func (s *Sender) Limit(ctx context.Context, from io.Reader) io.Reader {
	return &limitedReader{ctx, from, s.limit}
}

// Send transfers the content of a snapshot, and returns nil once the follower holds all of it. It
// returns transport.ErrEarlierBuild if the follower does not know such transfers. If a transfer
// that has begun breaks, Send waits for the follower and continues, unless the follower takes
// nothing more for resumeTimeout, or this node is in another term.
func (s *Sender) Send(ctx context.Context, snapshot transport.Outgoing) error {
	s.metrics.sends.Inc()
	defer s.metrics.sends.Dec()
	t := &sending{Outgoing: snapshot, content: snapshot.Snapshot.Content()}
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		accepted, reached := t.accepted, t.reached()
		err := s.attempt(ctx, t)
		if err == nil {
			return nil
		}
		if status.Code(err) == codes.Unimplemented {
			return transport.ErrEarlierBuild
		}
		err = fmt.Errorf("send snapshot of index %d to %s: %w", t.content.Index, t.Follower, err)
		if t.accepted == 0 || ctx.Err() != nil {
			return err
		}
		broke := t.accepted > accepted // and not only another failed attempt to connect
		if broke {
			s.metrics.broken.WithLabelValues(reasonOf(err)).Inc()
		}
		if t.reached() > reached {
			pause = minPause
		}
		if isFinal(err) || time.Since(t.lastProgress()) > s.resumeTimeout {
			s.metrics.givenUp.Inc()
			return err
		}
		if broke {
			s.cfg.Logger.Warn("the transfer of a snapshot broke; it continues when the follower is back",
				"follower", t.Follower, "index", t.content.Index, "bytes", t.reached(), "of", t.content.Size, "error", err)
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}

func reasonOf(err error) string {
	if errors.Is(err, errStalled) {
		return brokenStalled
	}
	return brokenConnection
}

// isFinal reports whether an attempt would fail again in the same way.
func isFinal(err error) bool {
	if errors.Is(err, errNotLeader) {
		return true
	}
	switch status.Code(err) {
	case codes.FailedPrecondition, codes.ResourceExhausted, codes.DataLoss, codes.Aborted, codes.InvalidArgument:
		return true
	default:
		return false
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
