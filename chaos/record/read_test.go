package record

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"google.golang.org/protobuf/proto"

	"quorate/proto/logpb"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// holder holds chosen requests until it is released.
type holder struct {
	mu   sync.Mutex
	held []raft.RPC
	open bool
}

// hold answers for a puppet: it keeps what matches.
func (h *holder) hold(matches func(raft.RPC) bool) func(raft.RPC) bool {
	return func(rpc raft.RPC) bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.open || !matches(rpc) {
			return false
		}
		h.held = append(h.held, rpc)
		return true
	}
}

func (h *holder) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.held)
}

// answerHeld answers all that is held with success, and goes on holding what comes.
func (h *holder) answerHeld() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, rpc := range h.held {
		rpc.Respond(accept(rpc.Command.(*raft.AppendEntriesRequest)), nil)
	}
	h.held = nil
}

// release answers all that is held with success, and holds no more.
func (h *holder) release() {
	h.mu.Lock()
	h.open = true
	h.mu.Unlock()
	h.answerHeld()
}

// appends matches requests that bring entries, or a commit index.
func appends(rpc raft.RPC) bool {
	_, ok := rpc.Command.(*raft.AppendEntriesRequest)
	return ok && !isHeartbeat(rpc)
}

// TestReadBeforeBarrier provokes the first half of hashicorp/raft#603: a new leader does not know
// yet that an entry of its predecessor was committed and acknowledged. A read that takes the commit
// index and confirms leadership at that moment misses the entry.
func TestReadBeforeBarrier(t *testing.T) {
	t.Run("stock", func(t *testing.T) {
		n := newNetwork(t, true)
		trans := n.transport("a")
		b, c := n.puppet("b", n.transport("b")), n.puppet("c", n.transport("c"))
		log, fsm := raft.NewInmemStore(), &counter{}
		r, a := n.among(config("a"), fsm, log, trans, b, c)
		// The old leader b has committed entry 2, with a's help, and answered its client. a doesn't
		// know.
		acked := []*raft.Log{{Index: 2, Term: 1, Type: raft.LogCommand, Data: []byte("acknowledged")}}
		b.append(t, a, raft.AppendEntriesRequest{Term: 1, PrevLogEntry: 1, PrevLogTerm: 1, Entries: acked, LeaderCommitIndex: 1})
		var h holder
		b.answers(h.hold(appends))
		c.answers(h.hold(appends))
		defer h.release()
		b.elect(t, library{r}, a)

		index := r.CommitIndex()
		if err := r.VerifyLeader().Error(); err != nil {
			t.Fatal(err)
		}
		if index >= 2 || fsm.applied.Load() >= 2 {
			t.Errorf("not provoked: index %d, applied %d", index, fsm.applied.Load())
		}
	})

	t.Run("quorate", func(t *testing.T) {
		n := newNetwork(t, false)
		b, c := n.storePuppet("b"), n.storePuppet("c")
		a := n.replica(t.TempDir(), 1)
		if err := a.Bootstrap(servers(a.server, b, c)); err != nil {
			t.Fatal(err)
		}
		key, acked := createEntry(t, "acknowledged", 2)
		b.append(t, a.server, raft.AppendEntriesRequest{
			Term: 1, PrevLogEntry: 1, PrevLogTerm: 1, Entries: []*raft.Log{acked}, LeaderCommitIndex: 1,
		})
		var h holder
		b.answers(h.hold(appends))
		c.answers(h.hold(appends))
		b.elect(t, a, a.server)
		if root, err := a.View(bounded(t, 500*time.Millisecond), raftstore.Quorum()); err == nil {
			t.Errorf("read before the barrier: sees the write: %t", root.Get(key) != nil)
		}
		h.release()
		root, err := a.View(bounded(t, patience), raftstore.Quorum())
		if err != nil || root.Get(key) == nil {
			t.Errorf("read after the barrier: %v", err)
		}
	})
}

func createEntry(t *testing.T, name string, index uint64) (key state.Key, entry *raft.Log) {
	t.Helper()
	k, o := object(name)
	resource, namespace, name := k.Split()
	data, err := proto.Marshal(&logpb.Entry{Format: 1, Op: &logpb.Entry_Create{Create: &logpb.Create{
		Key:    &logpb.Key{Resource: resource, Namespace: namespace, Name: name},
		Object: &logpb.Object{Value: o.Value, VersionOffset: o.VersionOffset, Uid: o.UID},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return k, &raft.Log{Index: index, Term: 1, Type: raft.LogCommand, Data: data}
}

// TestReadByOldAnswer provokes the second half of hashicorp/raft#603: VerifyLeader counts the
// response to a heartbeat that was sent, and answered, before VerifyLeader was called. The
// followers may have elected another leader while that response was in flight.
func TestReadByOldAnswer(t *testing.T) {
	t.Run("stock", func(t *testing.T) {
		n := newNetwork(t, true)
		trans := n.transport("a")
		b, c := n.puppet("b", n.transport("b")), n.puppet("c", n.transport("c"))
		log := raft.NewInmemStore()
		cfg := config("a")
		cfg.HeartbeatTimeout, cfg.LeaderLeaseTimeout = 5*time.Second, 5*time.Second
		r, a := n.among(cfg, &counter{}, log, trans, b, c)
		b.elect(t, library{r}, a)
		var h holder // both answer one heartbeat, and their answers are long under way
		all := func(rpc raft.RPC) bool { _, ok := rpc.Command.(*raft.AppendEntriesRequest); return ok }
		b.answers(h.hold(all))
		c.answers(h.hold(all))
		defer h.release()
		eventually(t, "heartbeats are under way", func() bool { return h.count() >= 2 })
		// Here b and c elect another leader and commit an entry. Then somebody reads at a.
		future := r.VerifyLeader()
		for range 64 { // turns of the main loop, until it has surely taken that up
			if err := r.BootstrapCluster(raft.Configuration{}).Error(); err == nil {
				t.Fatal("bootstrapped twice")
			}
		}
		h.answerHeld()
		if err := future.Error(); err != nil {
			t.Errorf("not provoked: %v", err)
		}
	})

	t.Run("quorate", func(t *testing.T) {
		n := newNetwork(t, false)
		b, c := n.storePuppet("b"), n.storePuppet("c")
		a := n.replica(t.TempDir(), 1)
		if err := a.Bootstrap(servers(a.server, b, c)); err != nil {
			t.Fatal(err)
		}
		b.elect(t, a, a.server)
		if _, err := a.View(bounded(t, patience), raftstore.Quorum()); err != nil {
			t.Fatal(err)
		}
		// b and c have elected another leader; only their answers to old heartbeats still reach a.
		b.term.Store(a.Term() + 1)
		c.term.Store(a.Term() + 1)
		keep := func(rpc raft.RPC) bool {
			if cmd, ok := rpc.Command.(*raft.AppendEntriesRequest); ok {
				rpc.Respond(accept(cmd), nil)
				return true
			}
			return false
		}
		b.answers(keep)
		c.answers(keep)
		if _, err := a.View(bounded(t, 300*time.Millisecond), raftstore.Quorum()); !errors.Is(err, raftstore.ErrTimeout) {
			t.Errorf("read on a deposed leader: %v", err)
		}
	})
}
