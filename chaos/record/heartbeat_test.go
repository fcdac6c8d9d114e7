package record

import (
	"strings"
	"sync"
	"testing"
	"time"

	metrics "github.com/hashicorp/go-metrics/compat"
	"github.com/hashicorp/raft"
)

// gateSink holds Raft's main loop where the library reports how busy that is: before it deals with
// what it was given.
type gateSink struct {
	metrics.BlackholeSink
	mu    sync.Mutex
	held  chan struct{} // receives when the loop is held
	gate  chan struct{} // closed to let it go
	armed bool
}

func (s *gateSink) AddSample(key []string, value float32) { s.AddSampleWithLabels(key, value, nil) }

func (s *gateSink) AddSampleWithLabels(key []string, _ float32, _ []metrics.Label) {
	if !strings.Contains(strings.Join(key, "."), "thread.main.saturation") {
		return
	}
	s.mu.Lock()
	armed, held, gate := s.armed, s.held, s.gate
	s.armed = false
	s.mu.Unlock()
	if armed {
		held <- struct{}{}
		<-gate
	}
}

// arm holds the next report; it returns when that is so, and how to let go.
func (s *gateSink) arm() (held <-chan struct{}, release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held, s.gate, s.armed = make(chan struct{}, 1), make(chan struct{}), true
	gate := s.gate
	return s.held, sync.OnceFunc(func() { close(gate) })
}

// TestHeartbeatRace provokes hashicorp/raft#695: a deposed leader writes an entry in a term that it
// never led, because a heartbeat of the new leader changed the term while the main loop was about
// to write. Two nodes can then hold different entries with the same index and term.
func TestHeartbeatRace(t *testing.T) {
	sink := &gateSink{}
	cfg := metrics.DefaultConfig("record")
	cfg.EnableHostname, cfg.EnableRuntimeMetrics = false, false
	if _, err := metrics.NewGlobal(cfg, sink); err != nil {
		t.Fatal(err)
	}
	kinds(t, func(t *testing.T, n *network) {
		trans := n.transport("a")
		b, c := n.puppet("b", n.transport("b")), n.puppet("c", n.transport("c"))
		a := raft.Server{ID: "a", Address: trans.LocalAddr()}
		log := raft.NewInmemStore()
		r, err := raft.NewRaft(config("a"), &counter{}, log, log, raft.NewInmemSnapshotStore(), trans)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { r.Shutdown().Error() }()
		servers := []raft.Server{a, {ID: b.id, Address: b.LocalAddr()}, {ID: c.id, Address: c.LocalAddr()}}
		if err := r.BootstrapCluster(raft.Configuration{Servers: servers}).Error(); err != nil {
			t.Fatal(err)
		}
		b.elect(t, library{r}, a)
		term := r.CurrentTerm()

		index, pending, release := holdBeforeDispatch(t, sink, r, log)
		heartbeat := make(chan struct{})
		go func() {
			defer close(heartbeat)
			b.append(t, a, raft.AppendEntriesRequest{Term: term + 1}) // b has been elected meanwhile
		}()
		if n.stock {
			eventually(t, "the heartbeat overtakes the main loop", func() bool { return r.CurrentTerm() == term+1 })
		}
		release()
		<-heartbeat
		<-pending // lost or refused, as may be

		var entry raft.Log
		written := log.GetLog(index, &entry) == nil && string(entry.Data) == "x"
		switch {
		case n.stock && (!written || entry.Term != term+1):
			t.Errorf("not provoked: entry %+v", entry)
		case !n.stock && written && entry.Term != term:
			t.Errorf("the leader of term %d wrote in term %d", term, entry.Term)
		}
	})
}

// holdBeforeDispatch proposes entries until the main loop is held with one that it has not written
// yet.
func holdBeforeDispatch(t *testing.T, sink *gateSink, r *raft.Raft, log *raft.InmemStore) (uint64, <-chan error, func()) {
	t.Helper()
	// The loop reports at most once a second, in the first iteration after that second. The pauses
	// are longer than the loop takes to write an entry, so that iteration is most likely the one
	// that receives the next entry.
	pace := time.NewTicker(20 * time.Millisecond)
	defer pace.Stop()
	for ; ; <-pace.C {
		last, err := log.LastIndex()
		if err != nil {
			t.Fatal(err)
		}
		held, release := sink.arm()
		done := make(chan error, 1)
		future := r.Apply([]byte("x"), 0)
		go func() { done <- future.Error() }()
		select {
		case <-held:
			if now, err := log.LastIndex(); err == nil && now == last {
				t.Cleanup(release)
				return last + 1, done, release
			}
			release() // held too late: it is written
			<-done
		case <-done:
			release()
		}
	}
}
