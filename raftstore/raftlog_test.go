package raftstore

import (
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
