package raftstore

import (
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/raft"

	"quorate/raftstore/log"
)

// TestStartScanSkipsCommands reads a log, of which a snapshot covers a part, as NewRaft does. The
// search for changes of the configuration gets commands without data, and later reads all entries
// as they are.
func TestStartScanSkipsCommands(t *testing.T) {
	const last = 20
	configuration := raft.EncodeConfiguration(raft.Configuration{Servers: []raft.Server{{ID: "n1", Address: "n1"}}})
	for name, covered := range map[string]uint64{
		"no snapshot": 0, "a snapshot": 7, "all but the last entry": last - 1, "all entries": last, "more than the log": last + 5,
	} {
		t.Run(name, func(t *testing.T) {
			l, err := log.Open(log.Config{Dir: filepath.Join(t.TempDir(), "log"), CacheEntries: 1, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			for index := uint64(1); index <= last; index++ {
				entry := &raft.Log{Index: index, Term: 2, Type: raft.LogCommand, Data: []byte{byte(index)}}
				if index == 1 || index == 15 {
					entry.Type, entry.Data = raft.LogConfiguration, configuration
				}
				if err := l.StoreLog(entry); err != nil {
					t.Fatal(err)
				}
			}
			if err := l.Verify(t.Context(), covered+1); err != nil {
				t.Fatal(err)
			}
			var snapshotIndex atomic.Uint64
			snapshotIndex.Store(covered)
			r, err := newRaftLog(l, &snapshotIndex, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got raft.Log
			if err := r.GetLog(last, &got); err != nil || len(got.Data) != 1 || got.Term != 2 { // as NewRaft does first
				t.Fatalf("the last entry is %+v (%v)", got, err)
			}
			for index := covered + 1; index <= last; index++ {
				if err := r.GetLog(index, &got); err != nil || got.Index != index {
					t.Fatalf("entry %d is %+v (%v)", index, got, err)
				}
				isConfiguration := index == 15 || index == 1
				if (got.Type == raft.LogConfiguration) != isConfiguration || (len(got.Data) > 0) != (isConfiguration || index == last) {
					t.Errorf("the search gets entry %d as %+v", index, got)
				}
			}
			for index := uint64(1); index <= last; index++ {
				if err := r.GetLog(index, &got); err != nil || got.Index != index || got.Term != 2 || len(got.Data) == 0 {
					t.Errorf("after the search, entry %d is %+v (%v)", index, got, err)
				}
			}
		})
	}
}

// applied is a state machine that records the data of the entries.
type applied struct{ data chan []byte }

func (a applied) Apply(entry *raft.Log) any {
	a.data <- entry.Data
	return nil
}

func (applied) Snapshot() (raft.FSMSnapshot, error) { return nil, errors.New("no snapshots") }
func (applied) Restore(io.ReadCloser) error         { return errors.New("no snapshots") }

// TestTheLibrarySearchesTheLog starts the library itself: it must read all entries in order before
// it starts to apply them, and get their data then.
func TestTheLibrarySearchesTheLog(t *testing.T) {
	const last = 50
	l, err := log.Open(log.Config{Dir: filepath.Join(t.TempDir(), "log"), CacheEntries: 1, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	addr, transport := raft.NewInmemTransport("n1")
	defer transport.Close()
	for index := uint64(1); index <= last; index++ {
		entry := &raft.Log{Index: index, Term: 1, Type: raft.LogCommand, Data: []byte{byte(index)}}
		if index == 20 {
			entry.Type = raft.LogConfiguration
			entry.Data = raft.EncodeConfiguration(raft.Configuration{Servers: []raft.Server{{ID: "n1", Address: addr}}})
		}
		if err := l.StoreLog(entry); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.SetUint64([]byte(log.CurrentTerm), 1); err != nil {
		t.Fatal(err)
	}
	if err := l.Verify(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	entries, err := newRaftLog(l, new(atomic.Uint64), nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg := raft.DefaultConfig()
	cfg.LocalID, cfg.LogOutput = "n1", io.Discard
	fsm := applied{make(chan []byte, last)}
	node, err := raft.NewRaft(cfg, fsm, entries, l, raft.NewInmemSnapshotStore(), transport)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := node.Shutdown().Error(); err != nil {
			t.Error(err)
		}
	}()
	if next := entries.startScan.next.Load(); next != 0 {
		t.Errorf("the library has read the log up to entry %d only", next)
	}
	for index := byte(1); index <= last; index++ {
		if index == 20 {
			continue
		}
		if data := <-fsm.data; len(data) != 1 || data[0] != index {
			t.Fatalf("entry %d is applied with the data %v", index, data)
		}
	}
}
