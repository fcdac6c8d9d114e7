package snapshotrpc

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"quorate/raftstore/transport"
)

// A follower that holds all of a snapshot has it whole, and a second transfer sends nothing.
func TestSend(t *testing.T) {
	f, s, r := newFollower(t), leader(0), reading(t, 3*chunkBytes+1)
	for range 2 {
		if err := s.Send(t.Context(), f.to(r)); err != nil {
			t.Fatal(err)
		}
		if err := f.snapshots.Claim(r.Content()); err != nil {
			t.Error(err)
		}
	}
	size := float64(r.Content().Size)
	if sent, resumed := valueOf(t, s.metrics.sentBytes), valueOf(t, s.metrics.resumedBytes); sent != size || resumed != size {
		t.Errorf("sent %v and saved %v bytes of %v", sent, resumed, size)
	}
	if got := valueOf(t, f.receiver.metrics.receivedBytes); got != size {
		t.Errorf("received %v bytes of %v", got, size)
	}
}

// A follower of an earlier build, and one that can't be reached, are left to the library, which
// asks again later.
func TestSendToOthers(t *testing.T) {
	f, s, r := newFollower(t), leader(0), reading(t, 1000)
	f.server.Stop()
	if err := s.Send(t.Context(), f.to(r)); status.Code(err) != codes.Unavailable {
		t.Errorf("not reachable: %v", err)
	}
	if broken := valueOf(t, s.metrics.broken.WithLabelValues(brokenConnection)); broken != 0 {
		t.Errorf("%v transfers broke, and none had begun", broken)
	}
	f.address = oldBuild(t)
	if err := s.Send(t.Context(), f.to(r)); !errors.Is(err, transport.ErrEarlierBuild) {
		t.Errorf("earlier build: %v", err)
	}
}

// A leader that is deposed stops sending, even if the follower does not know of it.
func TestDeposedLeaderStops(t *testing.T) {
	f, s, r := newFollower(t), leader(4*chunkBytes), reading(t, 100*chunkBytes)
	s.cfg.Term = func() uint64 {
		if valueOf(t, f.receiver.metrics.receivedBytes) > 0 {
			return 4
		}
		return 3
	}
	if err := s.Send(t.Context(), f.to(r)); !errors.Is(err, errNotLeader) {
		t.Errorf("got %v", err)
	}
	if got := valueOf(t, s.metrics.givenUp); got != 1 {
		t.Errorf("%v transfers given up", got)
	}
}

// A follower that hangs holds up the leader for a bounded time.
func TestStalledFollowerIsGivenUp(t *testing.T) {
	f, s, r := newFollower(t), leader(0), reading(t, 1000)
	s.stallTimeout, s.resumeTimeout = 50*time.Millisecond, 0
	for _, accepts := range []bool{false, true} {
		f.hangs.Store(&hang{accepts})
		if err := s.Send(bounded(t), f.to(r)); !errors.Is(err, errStalled) {
			t.Errorf("accepts %v: got %v", accepts, err)
		}
	}
	if stalled := valueOf(t, s.metrics.broken.WithLabelValues(brokenStalled)); stalled != 1 {
		t.Errorf("%v transfers stalled after they had begun", stalled)
	}
}

// A follower that does not return is given up, so that the log need not hold entries for it.
func TestTransferWithoutProgressIsGivenUp(t *testing.T) {
	f, s, r := newFollower(t), leader(20*chunkBytes), reading(t, 100*chunkBytes)
	s.resumeTimeout = time.Second
	sent := make(chan error, 1)
	ctx := bounded(t)
	go func() { sent <- s.Send(ctx, f.to(r)) }()
	eventually(t, "the transfer has begun", func() bool { return valueOf(t, f.receiver.metrics.receivedBytes) > 0 })
	f.server.Stop()
	if err := <-sent; status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "send snapshot of index 20 to follower") {
		t.Errorf("got %v", err)
	}
	if broken, given := valueOf(t, s.metrics.broken.WithLabelValues(brokenConnection)), valueOf(t, s.metrics.givenUp); broken != 1 || given != 1 {
		t.Errorf("%v transfers broke, %v were given up", broken, given)
	}
}

// The end of the context ends a transfer that waits for the rate, or for its follower.
func TestSendEndsWithItsContext(t *testing.T) {
	for name, prepare := range map[string]func(*follower){
		"rate":     func(*follower) {},
		"follower": func(f *follower) { f.hangs.Store(&hang{}) },
	} {
		t.Run(name, func(t *testing.T) {
			f, s, r := newFollower(t), leader(1), reading(t, 100*chunkBytes)
			prepare(f)
			ctx, cancel := context.WithCancel(t.Context())
			sent := make(chan error, 1)
			go func() { sent <- s.Send(ctx, f.to(r)) }()
			eventually(t, "it is sending", func() bool { return valueOf(t, s.metrics.sends) == 1 })
			if name == "rate" {
				eventually(t, "it waits", func() bool { return valueOf(t, s.metrics.waiting) == 1 })
			}
			cancel()
			if err := <-sent; err == nil {
				t.Error("it ended without an error")
			}
			if waiting, sends := valueOf(t, s.metrics.waiting), valueOf(t, s.metrics.sends); waiting != 0 || sends != 0 {
				t.Errorf("%v wait, %v are sent", waiting, sends)
			}
		})
	}
}

// The rate bounds transfers and the library's requests together, from the first byte on.
func TestRate(t *testing.T) {
	const rate = 20 * chunkBytes // in a second
	f, s, r := newFollower(t), leader(rate), reading(t, 11*chunkBytes)
	start := time.Now()
	read := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, s.Limit(t.Context(), io.NewSectionReader(r, 0, 10*chunkBytes)))
		read <- err
	}()
	if err := errors.Join(s.Send(t.Context(), f.to(r)), <-read); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < 950*time.Millisecond {
		t.Errorf("21 of 20 chunks a second took %s", took)
	}
	if sent := valueOf(t, s.metrics.sentBytes); sent != 21*chunkBytes {
		t.Errorf("%v bytes counted", sent)
	}
	if waited := valueOf(t, s.metrics.waitSeconds); waited < 0.9 {
		t.Errorf("waited for %v s", waited)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Limit(ctx, r).Read(make([]byte, 1)); err == nil {
		t.Error("a reader whose context has ended reads")
	}
}

// A high rate is reached, although a timer is late by more than a chunk takes.
func TestHighRate(t *testing.T) {
	const rate = 1 << 30
	l := newLimit(rate, newSenderMetrics(prometheus.NewRegistry()))
	start := time.Now()
	for range rate / 4 / chunkBytes {
		if err := l.wait(t.Context(), chunkBytes); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(start); took < 200*time.Millisecond || took > time.Second {
		t.Errorf("a quarter of a second's bytes took %s", took)
	}
}
