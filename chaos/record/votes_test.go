package record

import (
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hashicorp/raft"

	"quorate/raftstore/log"
)

// voter is a real replica that is asked for votes and never stands itself. Its term and votes
// outlive its restarts.
type voter struct {
	n       *network
	b, c    *puppet
	log     *raft.InmemStore
	members []raft.Server
	raft    *raft.Raft
	trans   interface{ LocalAddr() raft.ServerAddress }
	disk    *log.Store // on our parts
	path    string
	crashes *crashing
}

// address is what is known of a replica that is not the test's own.
type address raft.ServerAddress

// LocalAddr returns it.
func (a address) LocalAddr() raft.ServerAddress { return raft.ServerAddress(a) }

// crashing is a stable store of a process that crashes before it stores a vote's candidate.
type crashing struct {
	raft.StableStore
	mu    sync.Mutex
	armed bool // guarded by mu
}

var errCrash = errors.New("crash")

func (c *crashing) Set(key, value []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.armed {
		return errCrash
	}
	return c.StableStore.Set(key, value)
}

func (c *crashing) arm(armed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.armed = armed
}

// newVoter starts a replica a of a cluster with the puppets b and c. Its log has one entry: the
// configuration.
func newVoter(t *testing.T, n *network) *voter {
	t.Helper()
	v := &voter{
		n: n, b: n.puppet("b", n.transport("b")), c: n.puppet("c", n.transport("c")), log: raft.NewInmemStore(),
		path: filepath.Join(t.TempDir(), "log"), crashes: &crashing{StableStore: raft.NewInmemStore()},
	}
	v.start(t)
	t.Cleanup(v.stop)
	v.members = []raft.Server{v.server(), {ID: "b", Address: v.b.LocalAddr()}, {ID: "c", Address: v.c.LocalAddr()}}
	if err := v.raft.BootstrapCluster(raft.Configuration{Servers: v.members}).Error(); err != nil {
		t.Fatal(err)
	}
	return v
}

func (v *voter) start(t *testing.T) {
	t.Helper()
	var err error
	trans := v.n.transport("a")
	v.trans = trans
	if !v.n.stock {
		v.disk, err = log.Open(log.Config{Dir: v.path, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		v.crashes.StableStore = v.disk
	}
	v.raft, err = raft.NewRaft(config("a"), &counter{}, v.log, v.crashes, raft.NewInmemSnapshotStore(), trans)
	if err != nil {
		t.Fatal(err)
	}
}

func (v *voter) stop() {
	if v.raft == nil {
		return
	}
	v.raft.Shutdown().Error()
	v.raft = nil
	if v.disk != nil {
		v.disk.Close()
	}
}

func (v *voter) restart(t *testing.T) {
	t.Helper()
	v.stop()
	v.crashes.arm(false)
	v.start(t)
}

func (v *voter) server() raft.Server { return raft.Server{ID: "a", Address: v.trans.LocalAddr()} }

// asks has a candidate ask for a vote, from an address of its own or another's, with a log up to an
// entry of term 1.
func (v *voter) asks(t *testing.T, candidate *puppet, at raft.ServerAddress, term, lastIndex uint64) (granted bool) {
	t.Helper()
	header := candidate.header()
	header.Addr = []byte(at)
	req := &raft.RequestVoteRequest{RPCHeader: header, Term: term, LastLogIndex: lastIndex, LastLogTerm: min(lastIndex, 1)}
	var resp raft.RequestVoteResponse
	if err := candidate.RequestVote("a", v.trans.LocalAddr(), req, &resp); err != nil {
		t.Fatal(err)
	}
	return resp.Granted
}

// TestVoteByAddress provokes a fault of the library that was reported from outside: it records its
// vote by address. After a vote for b, it grants its vote in the same term to c without comparing
// c's log, if c has b's former address, as restarted machines and containers may. Two leaders of
// one term are then possible, one of which lacks committed entries.
func TestVoteByAddress(t *testing.T) {
	kinds(t, func(t *testing.T, n *network) {
		v := newVoter(t, n)
		b := v.b.LocalAddr()
		if !v.asks(t, v.b, b, 5, 1) {
			t.Fatal("the first candidate has no vote")
		}
		twice := v.asks(t, v.c, b, 5, 0) // its log is empty
		switch {
		case n.stock && !twice:
			t.Error("not provoked: one vote in the term")
		case !n.stock && twice:
			t.Error("two votes in one term")
		}
		if n.stock {
			return
		}
		v.restart(t)
		if v.asks(t, v.c, b, 5, 0) {
			t.Error("after a restart: two votes in one term")
		}
		if !v.asks(t, v.b, b, 5, 1) {
			t.Error("the candidate that has the vote is refused when it asks again")
		}
		if !v.asks(t, v.c, b, 6, 1) {
			t.Error("no vote in a later term")
		}
	})
}

// TestOwnVoteByAddress is the same for a vote of the node for itself: it starts again at another
// address, and a candidate that has its former one asks for the term that it led.
func TestOwnVoteByAddress(t *testing.T) {
	kinds(t, func(t *testing.T, n *network) {
		v := newVoter(t, n)
		former := v.trans.LocalAddr()
		v.b.elect(t, library{v.raft}, v.server())
		term := v.raft.CurrentTerm()
		v.restart(t)
		twice := v.asks(t, v.c, former, term, 0)
		switch {
		case n.stock && !twice:
			t.Error("not provoked: one vote in the term")
		case !n.stock && twice:
			t.Error("two votes in one term")
		}
	})
}

// TestVoteOfAStore runs the script of TestVoteByAddress on a whole store.
func TestVoteOfAStore(t *testing.T) {
	n := newNetwork(t, false)
	b, c := n.storePuppet("b"), n.storePuppet("c")
	a := n.replica(t.TempDir(), 10) // it doesn't stand by itself
	if err := a.Bootstrap(servers(a.server, b, c)); err != nil {
		t.Fatal(err)
	}
	v := &voter{trans: address(a.server.Address)}
	if !v.asks(t, b.puppet, b.LocalAddr(), 5, 1) {
		t.Fatal("the first candidate has no vote")
	}
	if v.asks(t, c.puppet, b.LocalAddr(), 5, 0) {
		t.Error("two votes in one term")
	}
}

// TestTornVote provokes a fault of the library that was reported from outside: it stores the term
// of a vote and its candidate in two steps. After a crash in between, the candidate of the earlier
// vote counts as the candidate of the new term, and gets the vote without a comparison of its log.
func TestTornVote(t *testing.T) {
	kinds(t, func(t *testing.T, n *network) {
		v := newVoter(t, n)
		if !v.asks(t, v.b, v.b.LocalAddr(), 5, 1) {
			t.Fatal("the first candidate has no vote")
		}
		v.crashes.arm(true)
		if v.asks(t, v.c, v.c.LocalAddr(), 6, 1) {
			t.Fatal("a vote is granted that is not stored")
		}
		v.restart(t)
		granted := v.asks(t, v.b, v.b.LocalAddr(), 6, 0) // its log is empty
		switch {
		case n.stock && !granted:
			t.Error("not provoked: no vote")
		case !n.stock && granted:
			t.Error("a candidate without the log has a vote")
		}
		if !n.stock && !v.asks(t, v.c, v.c.LocalAddr(), 6, 1) {
			t.Error("no vote for a candidate with the log, though none was given in this term")
		}
	})
}

// TestVotesOfFormerBuilds checks a data directory in which a former build stored a vote as an
// address: the node grants no second vote in that term, and grants one in the next.
func TestVotesOfFormerBuilds(t *testing.T) {
	v := newVoter(t, newNetwork(t, false))
	b := v.b.LocalAddr()
	err := errors.Join(v.disk.SetUint64([]byte(log.CurrentTerm), 5), v.disk.SetUint64([]byte(log.LastVoteTerm), 5),
		v.disk.Set([]byte(log.LastVoteCand), []byte(b)))
	if err != nil {
		t.Fatal(err)
	}
	v.restart(t)
	for _, candidate := range []*puppet{v.b, v.c} {
		if v.asks(t, candidate, b, 5, 1) {
			t.Errorf("%s has a vote in a term in which the node has voted", candidate.id)
		}
	}
	if !v.asks(t, v.c, v.c.LocalAddr(), 6, 1) {
		t.Error("no vote in the next term")
	}
}
