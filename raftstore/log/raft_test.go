package log

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
)

// emptyFSM is a state machine without state.
type emptyFSM struct{}

func (emptyFSM) Apply(*raft.Log) any                 { return nil }
func (emptyFSM) Snapshot() (raft.FSMSnapshot, error) { return emptyFSM{}, nil }
func (emptyFSM) Restore(r io.ReadCloser) error       { _, err := io.Copy(io.Discard, r); return err }
func (emptyFSM) Release()                            {}
func (emptyFSM) Persist(k raft.SnapshotSink) error {
	_, err := k.Write([]byte("nothing"))
	return errors.Join(err, k.Close())
}

func raftConfig() *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID = "n1"
	c.Logger = hclog.NewNullLogger()
	return c
}

type stores interface {
	raft.LogStore
	raft.StableStore
}

func startRaft(t *testing.T, c *raft.Config, s stores, snapshots raft.SnapshotStore, trans raft.Transport) *raft.Raft {
	t.Helper()
	r, err := raft.NewRaft(c, emptyFSM{}, s, s, snapshots, trans)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Shutdown().Error(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// fakeLeader sends a follower the requests of a leader and of candidates.
type fakeLeader struct {
	t       *testing.T
	trans   *raft.InmemTransport
	address raft.ServerAddress
	header  raft.RPCHeader
	servers []byte
}

func newFakeLeader(t *testing.T, address raft.ServerAddress) *fakeLeader {
	_, trans := raft.NewInmemTransport("")
	return &fakeLeader{
		t: t, trans: trans, address: address,
		header: raft.RPCHeader{ProtocolVersion: 3, ID: []byte("n2"), Addr: []byte("n2")},
		servers: raft.EncodeConfiguration(raft.Configuration{Servers: []raft.Server{
			{ID: "n1", Address: address}, {ID: "n2", Address: "n2"}, {ID: "n3", Address: "n3"},
		}}),
	}
}

// append sends entries and reports whether the follower accepted them.
func (l *fakeLeader) append(term, previous, previousTerm uint64, batch []*raft.Log) bool {
	l.t.Helper()
	for _, e := range batch {
		e.Term = term
		if e.Index == 1 {
			e.Type, e.Data = raft.LogConfiguration, l.servers
		}
	}
	var answer raft.AppendEntriesResponse
	err := l.trans.AppendEntries("n1", l.address, &raft.AppendEntriesRequest{
		RPCHeader: l.header, Term: term, PrevLogEntry: previous, PrevLogTerm: previousTerm, Entries: batch,
	}, &answer)
	if err != nil {
		l.t.Fatal(err)
	}
	return answer.Success
}

func (l *fakeLeader) install(index, term uint64) {
	l.t.Helper()
	state := []byte("nothing")
	var answer raft.InstallSnapshotResponse
	err := l.trans.InstallSnapshot("n1", l.address, &raft.InstallSnapshotRequest{
		RPCHeader: l.header, SnapshotVersion: 1, Term: term, LastLogIndex: index, LastLogTerm: term,
		Configuration: l.servers, ConfigurationIndex: 1, Size: int64(len(state)),
	}, &answer, bytes.NewReader(state))
	if err != nil || !answer.Success {
		l.t.Fatal(answer, err)
	}
}

// vote requests a vote in term for a candidate with the given last entry, and reports whether the
// follower granted it.
func (l *fakeLeader) vote(term, lastIndex, lastTerm uint64) bool {
	l.t.Helper()
	var answer raft.RequestVoteResponse
	err := l.trans.RequestVote("n1", l.address, &raft.RequestVoteRequest{
		RPCHeader: l.header, Term: term, LastLogIndex: lastIndex, LastLogTerm: lastTerm, LeadershipTransfer: true,
	}, &answer)
	if err != nil {
		l.t.Fatal(err)
	}
	return answer.Granted
}

// TestFollowerAcceptsEntriesAfterSnapshotOverDivergentLog sends a follower with entries 1 to 10 of
// term 1 a snapshot up to entry 8, of term 2. The follower must accept the entries after the
// snapshot, and must not vote for a candidate that lacks entry 8 of term 2 (hashicorp/raft#697).
// The library alone does neither; with Raft opened again in OnReset, the follower does both.
func TestFollowerAcceptsEntriesAfterSnapshotOverDivergentLog(t *testing.T) {
	type follower struct {
		raft      *raft.Raft
		snapshots *raft.InmemSnapshotStore
	}
	c := raftConfig()
	c.HeartbeatTimeout, c.ElectionTimeout = time.Minute, time.Minute
	start := func(t *testing.T, s stores, snapshots *raft.InmemSnapshotStore) (*raft.Raft, *fakeLeader) {
		t.Helper()
		address, trans := raft.NewInmemTransport("")
		l := newFakeLeader(t, address)
		l.trans.Connect(address, trans)
		return startRaft(t, c, s, snapshots, trans), l
	}
	diverge := func(t *testing.T, s stores, f *follower) *fakeLeader {
		t.Helper()
		f.snapshots = raft.NewInmemSnapshotStore()
		var l *fakeLeader
		f.raft, l = start(t, s, f.snapshots)
		if !l.append(1, 0, 0, entries(1, 10, 20)) {
			t.Fatal("entries of term 1 refused")
		}
		l.install(8, 2)
		return l
	}
	boltdb := func(t *testing.T) stores {
		t.Helper()
		s, err := raftboltdb.NewBoltStore(pathOf(t))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	for name, s := range map[string]func(t *testing.T) stores{
		"library bug, with raft-boltdb":     boltdb,
		"library bug, with a monotonic log": func(t *testing.T) stores { return open(t, pathOf(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			l := diverge(t, s(t), &follower{})
			if l.append(2, 8, 2, entries(9, 3, 20)) || !l.vote(3, 20, 1) {
				t.Error("the library no longer has the bug: remove the defence as well")
			}
		})
	}
	t.Run("opened again in OnReset", func(t *testing.T) {
		var f follower
		ends := make(chan raft.Future, 1)
		s := open(t, pathOf(t), func(c *Config) {
			c.OnReset = func(last uint64) {
				if last != 10 {
					t.Errorf("the removed log ended with %d", last)
				}
				ends <- f.raft.Shutdown() // waiting here would deadlock: this is Raft's main goroutine
			}
		})
		diverge(t, s, &f)
		if err := (<-ends).Error(); err != nil {
			t.Fatal(err)
		}
		_, l := start(t, s, f.snapshots)
		if l.vote(3, 20, 1) {
			t.Error("voted for a candidate that lacks the snapshot")
		}
		if !l.append(3, 8, 2, entries(9, 3, 20)) {
			t.Fatal("entries after the snapshot refused")
		}
		wantSpan(t, s, 9, 11)
	})
}

// A node stores entries, takes snapshots, is killed, and starts again.
func TestRaftRunsOnTheLog(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	snapshots, err := raft.NewFileSnapshotStoreWithLogger(dir, 2, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	c := raftConfig()
	c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = 50*time.Millisecond, 50*time.Millisecond, 50*time.Millisecond
	c.TrailingLogs = 1
	address, trans := raft.NewInmemTransport("")
	s := open(t, path)
	servers := raft.Configuration{Servers: []raft.Server{{ID: "n1", Address: address}}}
	if err := raft.BootstrapCluster(c, s, s, snapshots, trans, servers); err != nil {
		t.Fatal(err)
	}
	apply := func(t *testing.T, r *raft.Raft, n int) {
		t.Helper()
		if !<-r.LeaderCh() {
			t.Fatal("not the leader")
		}
		for range n {
			if err := r.Apply([]byte("command"), time.Minute).Error(); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := startRaft(t, c, s, snapshots, trans)
	apply(t, r, 50)
	if err := r.Snapshot().Error(); err != nil {
		t.Fatal(err)
	}
	apply2 := func() uint64 {
		f := r.Apply([]byte("command"), time.Minute)
		if err := f.Error(); err != nil {
			t.Fatal(err)
		}
		return f.Index()
	}
	last := apply2()
	wantSpan(t, s, 1, last) // Raft asked to keep one entry, the log keeps the young ones

	again := open(t, crashed(t, path))
	if err := again.Verify(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	_, trans2 := raft.NewInmemTransport(address)
	r2 := startRaft(t, c, again, snapshots, trans2)
	apply(t, r2, 10)
	if got := r2.AppliedIndex(); got < last+10 {
		t.Fatalf("applied %d after the restart, want at least %d", got, last+10)
	}
}

// failingOnce is a log whose next append fails if fails is set.
type failingOnce struct {
	*Store
	fails bool
}

func (f *failingOnce) StoreLogs(entries []*raft.Log) error {
	if f.fails {
		f.fails = false
		return errors.New("no space left on device")
	}
	return f.Store.StoreLogs(entries)
}

// A follower removes entries that conflict with the leader's and then fails to store the leader's.
// The library still assumes the entries that it removed.
func TestFollowerFailsBetweenTruncateAndAppend(t *testing.T) {
	c := raftConfig()
	c.HeartbeatTimeout, c.ElectionTimeout = time.Minute, time.Minute
	address, trans := raft.NewInmemTransport("")
	l := newFakeLeader(t, address)
	l.trans.Connect(address, trans)
	s := &failingOnce{Store: open(t, pathOf(t))}
	follower := startRaft(t, c, s, raft.NewInmemSnapshotStore(), trans)
	if !l.append(1, 0, 0, entries(1, 10, 20)) {
		t.Fatal("entries of term 1 refused")
	}
	s.fails = true
	if l.append(2, 4, 1, entries(5, 1, 20)) {
		t.Fatal("the follower acknowledged an append that failed")
	}
	wantSpan(t, s.Store, 1, 4)
	if l.append(2, 4, 1, entries(5, 1, 20)) || follower.LastIndex() != 10 {
		t.Error("the library no longer has the bug: remove the defence, which stops Raft, as well")
	}
}
