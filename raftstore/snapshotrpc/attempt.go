package snapshotrpc

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"quorate/proto/peerpb"
)

// attempt transfers what a follower lacks over one connection.
type attempt struct {
	*Sender
	*sending
	stream   peerpb.Store_SendSnapshotClient
	watchdog *watchdog
	cancel   context.CancelCauseFunc // ends the stream
}

// attempt makes a connection and transfers what the follower lacks. The connection carries nothing
// else, so that a snapshot delays no other message.
func (s *Sender) attempt(ctx context.Context, t *sending) error {
	if s.cfg.Term() != t.Term {
		return errNotLeader
	}
	conn, err := s.cfg.Connect(t.Follower, t.Address(), grpc.WithConnectParams(grpc.ConnectParams{
		Backoff: backoff.DefaultConfig, MinConnectTimeout: connectTimeout,
	}))
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stream, err := peerpb.NewStoreClient(conn).SendSnapshot(ctx)
	if err != nil {
		return err
	}
	a := &attempt{Sender: s, sending: t, stream: stream, cancel: cancel}
	a.watchdog = newWatchdog(s.stallTimeout, func() { cancel(errStalled) })
	defer a.watchdog.stop()
	err = a.run(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errStalled) {
		return errStalled
	}
	return err
}

// run describes the snapshot, and sends what the follower then says that it lacks.
func (a *attempt) run(ctx context.Context) error {
	offset, complete, err := a.begin()
	if err != nil || complete {
		return err
	}
	followed := make(chan error, 1)
	go func() { followed <- a.follow() }()
	sent := a.sendFrom(ctx, offset)
	if sent != nil && !errors.Is(sent, io.EOF) {
		a.cancel(sent) // the follower would wait for the rest
		<-followed
		return sent
	}
	return <-followed // has the reason if sent is io.EOF
}

// begin returns how many bytes the follower has. complete reports that it has all of them.
func (a *attempt) begin() (offset int64, complete bool, err error) {
	c := a.content
	err = a.stream.Send(&peerpb.SnapshotPart{Description: &peerpb.SnapshotDescription{
		ClusterId: a.cfg.ClusterID(), LeaderTerm: a.Term, Index: c.Index, Term: c.Term, Size: uint64(c.Size), Checksum: c.Checksum,
	}})
	if err != nil && !errors.Is(err, io.EOF) { // after io.EOF, Recv returns the reason
		return 0, false, err
	}
	position, err := a.stream.Recv()
	if err != nil {
		return 0, false, err
	}
	offset = int64(position.GetReceived())
	if offset < 0 || offset > c.Size {
		return 0, false, fmt.Errorf("the follower claims to have %d bytes of %d", offset, c.Size)
	}
	if offset > 0 {
		a.metrics.resumedBytes.Add(float64(offset))
		a.cfg.Logger.Info("continuing the transfer of a snapshot",
			"follower", a.Follower, "index", c.Index, "bytes", offset, "of", c.Size)
	}
	a.accepted++
	a.report(offset)
	a.watchdog.startAt(offset)
	return offset, position.GetComplete(), nil
}

// sendFrom sends the bytes from offset on. It returns io.EOF if the follower has ended the stream.
func (a *attempt) sendFrom(ctx context.Context, offset int64) error {
	for offset < a.content.Size {
		chunk := make([]byte, min(chunkBytes, a.content.Size-offset)) // not reused: gRPC may keep it
		if _, err := a.Snapshot.ReadAt(chunk, offset); err != nil {
			return fmt.Errorf("read the snapshot: %w", err)
		}
		if err := a.limit.wait(ctx, len(chunk)); err != nil {
			return err
		}
		if a.cfg.Term() != a.Term {
			return errNotLeader
		}
		offset += int64(len(chunk))
		a.watchdog.sentUpTo(offset)
		if err := a.stream.Send(&peerpb.SnapshotPart{Data: chunk}); err != nil {
			return err
		}
		a.metrics.sentBytes.Add(float64(len(chunk)))
	}
	return a.stream.CloseSend()
}

// follow records what the follower reports, until it has everything or the stream ends.
func (a *attempt) follow() error {
	for {
		position, err := a.stream.Recv()
		if err != nil {
			return err
		}
		received := int64(position.GetReceived())
		a.report(received)
		a.watchdog.tookUpTo(received)
		if position.GetComplete() {
			return nil
		}
	}
}
