package snapshotrpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"quorate/proto/peerpb"
	"quorate/raftstore/lifecycle"
	"quorate/raftstore/log"
	"quorate/raftstore/snapshot"
)

const (
	// maxDataBytes bounds the data of one message. It exceeds chunkBytes, so that a later build may
	// send longer ones.
	maxDataBytes = 1 << 20
	// spaceBytes is how much is written between two checks of the free space.
	spaceBytes = 8 << 20
)

// ReceiverConfig configures a Receiver; all fields are required.
type ReceiverConfig struct {
	Snapshots *snapshot.Store
	ClusterID func() string
	// Term returns the term that this node is in, and Leader the leader that it follows, if it
	// knows one.
	Term   func() uint64
	Leader func() (name string, known bool)
	// Fits returns an error if the disk has no space for so many bytes.
	Fits       func(bytes int64) error
	Lifecycle  *lifecycle.Lifecycle
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// Receiver is the follower's side of transfers. Its methods are safe for concurrent use.
type Receiver struct {
	cfg          ReceiverConfig
	metrics      *receiverMetrics
	stallTimeout time.Duration
	ending       chan struct{} // closed by End
	endOnce      sync.Once

	mu      sync.Mutex
	current *reception // nil if there is none
}

// reception is one transfer.
type reception struct {
	from    string
	term    uint64 // in which the sender leads
	content snapshot.Content
	replace chan struct{} // closed when another transfer has begun
	done    chan struct{} // closed when this one has closed its file
}

// NewReceiver returns a Receiver.
func NewReceiver(cfg ReceiverConfig) *Receiver {
	return &Receiver{
		cfg: cfg, metrics: newReceiverMetrics(cfg.Registerer), stallTimeout: defaultStallTimeout, ending: make(chan struct{}),
	}
}

// End ends the transfer under way, and refuses further ones. What has arrived remains.
func (r *Receiver) End() { r.endOnce.Do(func() { close(r.ending) }) }

var errEnding = status.Error(codes.Unavailable, "this node stops")

// Serve receives a snapshot from the node called from, which the certificate of the stream's
// connection names. The error has the code that the protocol gives to its reason.
func (r *Receiver) Serve(from string, stream peerpb.Store_SendSnapshotServer) error {
	if !r.cfg.Lifecycle.StartTask() { // the files stay open until EndTask
		return errEnding
	}
	defer r.cfg.Lifecycle.EndTask()
	parts := make(chan received)
	go receive(stream, parts) // ends with the stream, which ends with this call
	first, err := r.next(stream.Context(), parts, nil)
	if err != nil {
		return err
	}
	rec, err := r.describe(from, first)
	if err != nil {
		return err
	}
	r.begin(rec)
	if err := r.receive(rec, stream, parts); err != nil {
		return err
	}
	return stream.Send(&peerpb.SnapshotPosition{Received: uint64(rec.content.Size), Complete: true})
}

// received is a message, or the error that ended the stream.
type received struct {
	part *peerpb.SnapshotPart
	err  error
}

func receive(stream peerpb.Store_SendSnapshotServer, to chan<- received) {
	for {
		part, err := stream.Recv()
		select {
		case to <- received{part, err}:
		case <-stream.Context().Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// next returns the next message.
func (r *Receiver) next(ctx context.Context, parts <-chan received, replaced <-chan struct{}) (*peerpb.SnapshotPart, error) {
	timer := time.NewTimer(r.stallTimeout)
	defer timer.Stop()
	select {
	case p := <-parts:
		return p.part, p.err
	case <-ctx.Done(): // the connection broke, and the stream may not have said so
		return nil, status.FromContextError(ctx.Err()).Err()
	case <-replaced:
		return nil, r.refuse(refusedSuperseded, codes.Aborted, "another transfer has begun")
	case <-r.ending:
		return nil, errEnding
	case <-timer.C:
		return nil, r.refuse(refusedStalled, codes.DeadlineExceeded, "nothing has arrived for %s", r.stallTimeout)
	}
}

func (r *Receiver) refuse(reason string, code codes.Code, format string, args ...any) error {
	r.metrics.refused.WithLabelValues(reason).Inc()
	return status.Errorf(code, format, args...)
}

// describe checks the first message of a stream.
func (r *Receiver) describe(from string, first *peerpb.SnapshotPart) (*reception, error) {
	d := first.GetDescription()
	if own := r.cfg.ClusterID(); own != "" && d.GetClusterId() != own {
		return nil, r.refuse(refusedSender, codes.FailedPrecondition, "request of another cluster")
	}
	rec := &reception{
		from: from, term: d.GetLeaderTerm(), replace: make(chan struct{}), done: make(chan struct{}),
		content: snapshot.Content{Index: d.GetIndex(), Term: d.GetTerm(), Size: int64(d.GetSize()), Checksum: d.GetChecksum()},
	}
	if rec.content.Size <= 0 || rec.content.Index == 0 || len(first.GetData()) > 0 {
		return nil, r.refuse(refusedMessage, codes.InvalidArgument, "the first message describes no snapshot")
	}
	return rec, r.follows(rec)
}

// follows returns an error unless this node follows the sender in the term of the transfer.
func (r *Receiver) follows(rec *reception) error {
	leader, known := r.cfg.Leader()
	switch now := r.cfg.Term(); {
	case now > rec.term:
		return r.refuse(refusedSender, codes.FailedPrecondition, "this node is in term %d, and %s leads in %d", now, rec.from, rec.term)
	case now < rec.term, !known:
		return status.Error(codes.Unavailable, "this node has not heard from the leader yet")
	case leader != rec.from:
		return r.refuse(refusedSender, codes.FailedPrecondition, "this node follows %s, not %s", leader, rec.from)
	}
	return nil
}

// begin makes a reception the current one. It ends the former one first, whose connection may have
// broken without this node's notice.
func (r *Receiver) begin(rec *reception) {
	r.mu.Lock()
	former := r.current
	r.current = rec
	r.mu.Unlock()
	if former != nil {
		close(former.replace)
		<-former.done
	}
}

func (r *Receiver) finish(rec *reception) {
	close(rec.done)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == rec {
		r.current = nil
	}
}

// receive writes what arrives to the partial snapshot, until it is complete. The leader may request
// its installation afterwards, so the file is closed by then.
func (r *Receiver) receive(rec *reception, stream peerpb.Store_SendSnapshotServer, parts <-chan received) (err error) {
	defer r.finish(rec)
	p, err := r.cfg.Snapshots.Receive(rec.content)
	if err != nil {
		return r.failed(err)
	}
	defer func() {
		if closed := p.Close(); closed != nil && err == nil {
			err = r.failed(closed)
		}
	}()
	if err := r.fits(p, rec.content.Size-p.Offset()); err != nil {
		return err
	}
	r.cfg.Logger.Info("receiving a snapshot", "leader", rec.from, "index", rec.content.Index, "bytes", p.Offset(), "of", rec.content.Size)
	for {
		complete, err := p.Finish()
		if err != nil {
			return r.failed(err)
		}
		if complete {
			return nil
		}
		if err := stream.Send(&peerpb.SnapshotPosition{Received: uint64(p.Offset())}); err != nil {
			return err
		}
		part, err := r.next(stream.Context(), parts, rec.replace)
		if errors.Is(err, io.EOF) {
			return r.refuse(refusedMessage, codes.InvalidArgument, "the stream ended after %d bytes of %d", p.Offset(), rec.content.Size)
		}
		if err != nil {
			return err
		}
		if err := r.write(rec, p, part.GetData()); err != nil {
			return err
		}
	}
}

// write appends the data of a message.
func (r *Receiver) write(rec *reception, p *snapshot.Partial, data []byte) error {
	if most := min(maxDataBytes, rec.content.Size-p.Offset()); len(data) == 0 || int64(len(data)) > most {
		return r.refuse(refusedMessage, codes.InvalidArgument, "a message with %d bytes, want 1 to %d", len(data), most)
	}
	if now := r.cfg.Term(); now != rec.term {
		return r.refuse(refusedSender, codes.FailedPrecondition, "this node is in term %d, no longer in %d", now, rec.term)
	}
	if before := p.Offset(); before/spaceBytes != (before+int64(len(data)))/spaceBytes {
		if err := r.fits(p, spaceBytes); err != nil {
			return err
		}
	}
	n, err := p.Write(data)
	r.metrics.receivedBytes.Add(float64(n))
	if log.OutOfSpace(err) { // the log may need what the snapshot has taken
		err = errors.Join(err, p.Discard())
	}
	if err != nil {
		return r.failed(err)
	}
	return nil
}

// fits removes what has arrived and returns an error if the disk has no space for so many bytes.
func (r *Receiver) fits(p *snapshot.Partial, bytes int64) error {
	if err := r.cfg.Fits(bytes); err != nil {
		return r.refuse(refusedSpace, codes.FailedPrecondition, "%v", errors.Join(err, p.Discard()))
	}
	return nil
}

// failed returns the error to send for one of the files.
func (r *Receiver) failed(err error) error {
	var corrupt *snapshot.Corrupt
	switch {
	case errors.As(err, &corrupt):
		return r.refuse(refusedDamaged, codes.DataLoss, "%v", err)
	case log.OutOfSpace(err):
		return r.refuse(refusedSpace, codes.FailedPrecondition, "%v", err)
	default:
		return status.Error(codes.Internal, fmt.Sprint(err))
	}
}
