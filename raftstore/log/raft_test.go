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

// nothing is a state machine without state.
type nothing struct{}

func (nothing) Apply(*raft.Log) any                 { return nil }
func (nothing) Snapshot() (raft.FSMSnapshot, error) { return nothing{}, nil }
func (nothing) Restore(r io.ReadCloser) error       { _, err := io.Copy(io.Discard, r); return err }
func (nothing) Release()                            {}
func (nothing) Persist(k raft.SnapshotSink) error {
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
	r, err := raft.NewRaft(c, nothing{}, s, s, snapshots, trans)
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

// leader speaks to a follower as a leader and other members do.
type leader struct {
	t       *testing.T
	trans   *raft.InmemTransport
	address raft.ServerAddress
	header  raft.RPCHeader
	servers []byte
}

func newLeader(t *testing.T, address raft.ServerAddress) *leader {
	_, trans := raft.NewInmemTransport("")
	return &leader{
		t: t, trans: trans, address: address,
		header: raft.RPCHeader{ProtocolVersion: 3, ID: []byte("n2"), Addr: []byte("n2")},
		servers: raft.EncodeConfiguration(raft.Configuration{Servers: []raft.Server{
			{ID: "n1", Address: address}, {ID: "n2", Address: "n2"}, {ID: "n3", Address: "n3"},
		}}),
	}
}

// append sends entries and says whether they were taken.
func (l *leader) append(term, previous, previousTerm uint64, batch []*raft.Log) bool {
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

func (l *leader) install(index, term uint64) {
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

// vote asks for a vote in term, for a candidate whose last entry is given, and says whether it was
// granted.
func (l *leader) vote(term, lastIndex, lastTerm uint64) bool {
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

// A follower has entries 9 and 10 of term 1, which the leader hasn't; it gets a snapshot of entry 8
// of term 2. It must take what follows, and must not vote for a candidate that lacks entry 8
// (hashicorp/raft#697).
func TestFollowerGoesOnAfterASnapshotOverDivergentEntries(t *testing.T) {
	type follower struct {
		raft      *raft.Raft
		snapshots *raft.InmemSnapshotStore
	}
	c := raftConfig()
	c.HeartbeatTimeout, c.ElectionTimeout = time.Minute, time.Minute
	start := func(t *testing.T, s stores, snapshots *raft.InmemSnapshotStore) (*raft.Raft, *leader) {
		t.Helper()
		address, trans := raft.NewInmemTransport("")
		l := newLeader(t, address)
		l.trans.Connect(address, trans)
		return startRaft(t, c, s, snapshots, trans), l
	}
	diverge := func(t *testing.T, s stores, f *follower) *leader {
		t.Helper()
		f.snapshots = raft.NewInmemSnapshotStore()
		var l *leader
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
		"the library's fault, with raft-boltdb":     boltdb,
		"the library's fault, with a monotonic log": func(t *testing.T) stores { return open(t, pathOf(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			l := diverge(t, s(t), &follower{})
			if l.append(2, 8, 2, entries(9, 3, 20)) || !l.vote(3, 20, 1) {
				t.Error("the fault is gone from the library: the defence may go too")
			}
		})
	}
	t.Run("opened again in OnReset", func(t *testing.T) {
		var f follower
		ends := make(chan raft.Future, 1)
		s := open(t, pathOf(t), func(c *Config) {
			c.OnReset = func(last uint64) {
				if last != 10 {
					t.Errorf("the log removed ended with %d", last)
				}
				ends <- f.raft.Shutdown() // to wait for here would be to wait for this goroutine
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

// The whole life of a node: written, snapshots taken, killed, started again.
func TestRaftRunsOnTheLog(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log.db")
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
	wantSpan(t, s, 1, last) // Raft asked to keep one, the log keeps what is young

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

// failingOnce is a log whose next append fails when told to.
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

// A follower cuts off entries that conflict with the leader's, and fails to store those. The
// library believes in what it had cut off.
func TestFollowerThatFailsBetweenCutAndAppend(t *testing.T) {
	c := raftConfig()
	c.HeartbeatTimeout, c.ElectionTimeout = time.Minute, time.Minute
	address, trans := raft.NewInmemTransport("")
	l := newLeader(t, address)
	l.trans.Connect(address, trans)
	s := &failingOnce{Store: open(t, pathOf(t))}
	follower := startRaft(t, c, s, raft.NewInmemSnapshotStore(), trans)
	if !l.append(1, 0, 0, entries(1, 10, 20)) {
		t.Fatal("entries of term 1 refused")
	}
	s.fails = true
	if l.append(2, 4, 1, entries(5, 1, 20)) {
		t.Fatal("an append that failed was acknowledged")
	}
	wantSpan(t, s.Store, 1, 4)
	if l.append(2, 4, 1, entries(5, 1, 20)) || follower.LastIndex() != 10 {
		t.Error("the fault is gone from the library: the defence, to end Raft there, may go too")
	}
}
