package disk_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/disk"
)

// ledger is what a server was asked to store, by name of the object, and what it acknowledged of
// that.
type ledger struct {
	mu    sync.Mutex
	acked map[string]int // the highest value acknowledged; guarded by mu
	sent  map[string]int // the highest value sent; guarded by mu
}

func newLedger() *ledger { return &ledger{acked: map[string]int{}, sent: map[string]int{}} }

func (l *ledger) note(values map[string]int, name string, value int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	values[name] = value
}

func (l *ledger) acknowledged() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acked)
}

// writers is how many clients write at a time.
const writers = 8

// write has clients create and replace objects until ctx is done, whatever becomes of the node
// meanwhile. The result is to be waited for.
func (s *server) write(ctx context.Context, l *ledger, round int) *sync.WaitGroup {
	var all sync.WaitGroup
	for c := range writers {
		all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				if !s.writeOne(ctx, l, fmt.Sprintf("r%d-c%d-%d", round, c, i)) {
					select { // the node is gone, or refuses
					case <-time.After(10 * time.Millisecond):
					case <-ctx.Done():
					}
				}
			}
		})
	}
	return &all
}

// writeOne creates an object and replaces it; false when that is not acknowledged.
func (s *server) writeOne(ctx context.Context, l *ledger, name string) bool {
	o := client.Object{Name: name, Data: map[string]string{"v": "1"}}
	l.note(l.sent, name, 1)
	stored, outcome, _ := s.client.Create(ctx, namespace, name, o.Data)
	if outcome != client.OK {
		return false
	}
	l.note(l.acked, name, 1)
	stored.Data = map[string]string{"v": "2"}
	l.note(l.sent, name, 2)
	if _, outcome, _ = s.client.Replace(ctx, namespace, stored); outcome != client.OK {
		return false
	}
	l.note(l.acked, name, 2)
	return true
}

// writeAndKill has clients write, waits until so many more objects are acknowledged, and kills the
// node in the middle of it all.
func (s *server) writeAndKill(t *testing.T, l *ledger, round, most int, meanwhile func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	before := l.acknowledged()
	clients := s.write(ctx, l, round)
	defer clients.Wait()
	defer cancel()
	await(t, "writes are acknowledged", func() bool { return l.acknowledged() > before })
	meanwhile()
	before = l.acknowledged()
	await(t, "writes are acknowledged", func() bool { return l.acknowledged() >= before+most })
	s.kill(t)
}

// verify compares all objects with the ledger.
func (s *server) verify(t *testing.T, l *ledger) {
	t.Helper()
	list, _, outcome, err := s.client.List(t.Context(), namespace, "")
	if outcome != client.OK {
		t.Fatalf("list: %v %v", outcome, err)
	}
	found := map[string]int{}
	for _, o := range list {
		if value, err := strconv.Atoi(o.Data["v"]); err == nil {
			found[o.Name] = value
		}
	}
	lost := 0
	for name, acked := range l.acked {
		if value := found[name]; value < acked || value > l.sent[name] {
			lost++
			t.Errorf("%s is %d, %d was acknowledged and %d sent", name, value, acked, l.sent[name])
		}
		if lost > 10 {
			t.FailNow()
		}
	}
	t.Logf("%d objects, %d acknowledged", len(found), len(l.acked))
}

// losesNothing: a real node is killed in the middle of writes and its disk loses what wasn't
// synced. All that was acknowledged is there when it is started again.
func losesNothing(t *testing.T, binary string) {
	for name, options := range map[string][]disk.Option{"ordered": nil, "strict": {disk.Strict}} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, 7))
			s := newServer(t, binary, options...)
			s.begin(t)
			l := newLedger()
			for round, meanwhile := range []func(){
				func() {},
				func() { s.snapshot(t) },
				func() { s.disk.Set(disk.Faults{FsyncDelay: 5 * time.Millisecond}) }, // more is under way when it is killed
				func() { s.failFsyncs(t, l) },
			} {
				s.writeAndKill(t, l, round, 20+r.IntN(100), meanwhile)
				s.disk.Set(disk.Faults{})
				if round%2 == 0 {
					must(t, s.disk.Tear(r))
				} else {
					must(t, s.disk.Crash())
				}
				s.restart(t)
				s.verify(t, l)
			}
			if stats := s.disk.Stats(); stats.LostBytes == 0 {
				t.Errorf("no power cut took anything: %+v", stats)
			}
		})
	}
}

func (s *server) snapshot(t *testing.T) {
	t.Helper()
	_, err := s.Command(t.Context(), "snapshot", "--data-dir", s.DataDir(node))
	must(t, err)
}

// failFsyncs has an fsync fail, which gives up what it was to write. A node that ends for it is
// started again, on what it wrote: nothing but the next power cut shows that it isn't on the disk.
func (s *server) failFsyncs(t *testing.T, l *ledger) {
	t.Helper()
	before := s.disk.Stats().Refused
	s.disk.Set(disk.Faults{FailFsync: true})
	await(t, "an fsync fails", func() bool { return s.disk.Stats().Refused > before })
	s.disk.Set(disk.Faults{})
	acknowledged := l.acknowledged()
	ended := func() bool {
		select {
		case <-s.Exited(node):
			return true
		default:
			return false
		}
	}
	// Each client may still get an answer that was under way.
	await(t, "the node goes on, or ends", func() bool { return ended() || l.acknowledged() > acknowledged+writers })
	if ended() {
		s.restart(t)
	}
}

func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}
