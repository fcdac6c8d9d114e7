package snapshotrpc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"quorate/proto/peerpb"
	"quorate/raftstore/snapshot"
)

// wantRefused checks the code of an error, and that the receiver has counted its reason.
func (f *follower) wantRefused(err error, code codes.Code, reason string) {
	f.t.Helper()
	if status.Code(err) != code {
		f.t.Errorf("got %v, want %s", err, code)
	}
	if reason != "" && valueOf(f.t, f.receiver.metrics.refused.WithLabelValues(reason)) == 0 {
		f.t.Errorf("a refusal because of %q is not counted", reason)
	}
}

// A node takes snapshots from the leader that it follows, in the term that it is in, and from
// nobody else.
func TestOnlyTheLeaderIsHeard(t *testing.T) {
	f := newFollower(t)
	content := snapshot.Content{Index: 20, Term: 2, Size: 1000, Checksum: 1}
	for name, c := range map[string]struct {
		leader string
		change func(*peerpb.SnapshotDescription)
		code   codes.Code
		reason string
	}{
		"another member":       {"other", func(*peerpb.SnapshotDescription) {}, codes.FailedPrecondition, refusedSender},
		"a former leader":      {"leader", func(d *peerpb.SnapshotDescription) { d.LeaderTerm = 2 }, codes.FailedPrecondition, refusedSender},
		"a leader not heard":   {"leader", func(d *peerpb.SnapshotDescription) { d.LeaderTerm = 4 }, codes.Unavailable, ""},
		"no leader":            {"", func(*peerpb.SnapshotDescription) {}, codes.Unavailable, ""},
		"another cluster":      {"leader", func(d *peerpb.SnapshotDescription) { d.ClusterId = "c2" }, codes.FailedPrecondition, refusedSender},
		"no size":              {"leader", func(d *peerpb.SnapshotDescription) { d.Size = 0 }, codes.InvalidArgument, refusedMessage},
		"a negative size":      {"leader", func(d *peerpb.SnapshotDescription) { d.Size = 1 << 63 }, codes.InvalidArgument, refusedMessage},
		"no entry":             {"leader", func(d *peerpb.SnapshotDescription) { d.Index = 0 }, codes.InvalidArgument, refusedMessage},
		"nothing but a leader": {"leader", func(d *peerpb.SnapshotDescription) { *d = peerpb.SnapshotDescription{ClusterId: "c1", LeaderTerm: 3} }, codes.InvalidArgument, refusedMessage},
	} {
		t.Run(name, func(t *testing.T) {
			f.follows(c.leader)
			part := describe(content)
			c.change(part.GetDescription())
			_, err := exchange(f.stream(t.Context()), part)
			f.wantRefused(err, c.code, c.reason)
			if _, err := os.Stat(filepath.Join(f.dir, "snapshots-partial")); err == nil {
				t.Error("the node has begun to receive it")
			}
		})
	}
}

// The messages of a transfer are bounded, and end with the term of the leader.
func TestMessagesAreBounded(t *testing.T) {
	f := newFollower(t)
	content := snapshot.Content{Index: 20, Term: 2, Size: 4 << 20, Checksum: 1}
	begin := func() peerpb.Store_SendSnapshotClient {
		stream := f.stream(t.Context())
		if _, err := exchange(stream, describe(content)); err != nil {
			t.Fatal(err)
		}
		return stream
	}
	data := func(n int) *peerpb.SnapshotPart { return &peerpb.SnapshotPart{Data: make([]byte, n)} }

	_, err := exchange(begin(), data(maxDataBytes+1))
	f.wantRefused(err, codes.InvalidArgument, refusedMessage)
	_, err = exchange(begin(), data(0))
	f.wantRefused(err, codes.InvalidArgument, refusedMessage)
	stream := begin()
	for range 4 {
		if _, err = exchange(stream, data(maxDataBytes-1)); err != nil {
			t.Fatal(err)
		}
	}
	_, err = exchange(stream, data(5))
	f.wantRefused(err, codes.InvalidArgument, refusedMessage)

	stream = begin()
	f.term.Store(4)
	_, err = exchange(stream, data(4))
	f.wantRefused(err, codes.FailedPrecondition, refusedSender)
}

// A sender that sends nothing occupies no place for long, neither before its first message nor
// after it.
func TestSilentSenderIsGivenUp(t *testing.T) {
	f := newFollower(t)
	f.receiver.stallTimeout = 100 * time.Millisecond
	_, err := f.stream(t.Context()).Recv()
	f.wantRefused(err, codes.DeadlineExceeded, refusedStalled)
	stream := f.stream(t.Context())
	if _, err := exchange(stream, describe(snapshot.Content{Index: 20, Term: 2, Size: 4 << 20, Checksum: 1})); err != nil {
		t.Fatal(err)
	}
	_, err = stream.Recv()
	f.wantRefused(err, codes.DeadlineExceeded, refusedStalled)
	if got := valueOf(t, f.receiver.metrics.refused.WithLabelValues(refusedStalled)); got != 2 {
		t.Errorf("%v senders given up", got)
	}
}

// A transfer replaces the one under way, whose connection may have broken without notice.
func TestNewTransferReplacesTheFormer(t *testing.T) {
	f := newFollower(t)
	content := snapshot.Content{Index: 20, Term: 2, Size: 4 << 20, Checksum: 1}
	former := f.stream(t.Context())
	if _, err := exchange(former, describe(content)); err != nil {
		t.Fatal(err)
	}
	if _, err := exchange(former, &peerpb.SnapshotPart{Data: make([]byte, 1000)}); err != nil {
		t.Fatal(err)
	}
	position, err := exchange(f.stream(t.Context()), describe(content))
	if err != nil || position.GetReceived() != 1000 {
		t.Errorf("%v, %v", position, err)
	}
	_, err = former.Recv()
	f.wantRefused(err, codes.Aborted, refusedSuperseded)
}

// A node that stops ends the transfer and keeps what has arrived.
func TestEndKeepsWhatHasArrived(t *testing.T) {
	f := newFollower(t)
	content := snapshot.Content{Index: 20, Term: 2, Size: 4 << 20, Checksum: 1}
	stream := f.stream(t.Context())
	if _, err := exchange(stream, describe(content)); err != nil {
		t.Fatal(err)
	}
	if _, err := exchange(stream, &peerpb.SnapshotPart{Data: make([]byte, 1000)}); err != nil {
		t.Fatal(err)
	}
	f.receiver.End()
	_, err := stream.Recv()
	f.wantRefused(err, codes.Unavailable, "")
	if info, err := os.Stat(filepath.Join(f.dir, "snapshots-partial", "state.bin")); err != nil || info.Size() != 1000 {
		t.Errorf("%v, %v", info, err)
	}
	f.receiver.cfg.Lifecycle.CloseTasks()
	f.receiver.cfg.Lifecycle.Wait()
	_, err = exchange(f.stream(t.Context()), describe(content))
	f.wantRefused(err, codes.Unavailable, "")
}

// A snapshot does not take the space that the log needs.
func TestTransferNeedsSpace(t *testing.T) {
	f := newFollower(t)
	f.full.Store(true)
	content := snapshot.Content{Index: 20, Term: 2, Size: 2 * spaceBytes, Checksum: 1}
	_, err := exchange(f.stream(t.Context()), describe(content))
	f.wantRefused(err, codes.FailedPrecondition, refusedSpace)

	f.full.Store(false)
	stream := f.stream(t.Context())
	if _, err := exchange(stream, describe(content)); err != nil {
		t.Fatal(err)
	}
	f.full.Store(true)
	err = nil
	for sent := 0; err == nil && sent < 2*spaceBytes; sent += maxDataBytes {
		_, err = exchange(stream, &peerpb.SnapshotPart{Data: make([]byte, maxDataBytes)})
	}
	f.wantRefused(err, codes.FailedPrecondition, refusedSpace)
	if _, err := os.Stat(filepath.Join(f.dir, "snapshots-partial")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what has arrived keeps its space: %v", err)
	}
}

// What does not match the checksum of the description is removed.
func TestDamagedTransferIsRefused(t *testing.T) {
	f := newFollower(t)
	content := snapshot.Content{Index: 20, Term: 2, Size: 1000, Checksum: 1}
	stream := f.stream(t.Context())
	if _, err := exchange(stream, describe(content)); err != nil {
		t.Fatal(err)
	}
	_, err := exchange(stream, &peerpb.SnapshotPart{Data: make([]byte, 1000)})
	f.wantRefused(err, codes.DataLoss, refusedDamaged)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if position, err := exchange(f.stream(ctx), describe(content)); err != nil || position.GetReceived() != 0 {
		t.Errorf("%v, %v", position, err)
	}
}

// The node notices at once that a connection broke, and closes the file.
func TestBrokenStreamEndsTheTransfer(t *testing.T) {
	f := newFollower(t)
	f.receiver.stallTimeout = time.Hour
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := exchange(f.stream(ctx), describe(snapshot.Content{Index: 20, Term: 2, Size: 1000, Checksum: 1})); err != nil {
			t.Fatal(err)
		}
		cancel()
		eventually(t, "no snapshot is being received", func() bool {
			f.receiver.mu.Lock()
			defer f.receiver.mu.Unlock()
			return f.receiver.current == nil
		})
	}
}
