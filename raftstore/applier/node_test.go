package applier_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore/applier"
	"quorate/raftstore/history"
	"quorate/raftstore/lifecycle"
	"quorate/raftstore/read"
	"quorate/raftstore/readindex"
	"quorate/raftstore/replay"
	"quorate/raftstore/state"
	"quorate/raftstore/write"
)

// node has a state machine and the parts that it works on, without Raft and files.
type node struct {
	applier  *applier.Applier
	hub      *history.Hub
	replay   *replay.Log
	retained *read.Retained
	applied  readindex.Applied
	life     *lifecycle.Lifecycle
}

// newNode returns a node without state whose log on disk has the given entries.
func newNode(t *testing.T, entries replay.Entries) *node {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	n := &node{life: lifecycle.New()}
	n.replay = replay.New(entries, func() *state.Root { return n.applier.Root() }, quiet)
	retainer, err := state.NewRetainer(state.RetainerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	n.retained = read.NewRetained(retainer)
	if n.hub, err = history.New(history.Config{Log: n.replay}); err != nil {
		t.Fatal(err)
	}
	n.applier = applier.New(applier.Config{
		Hub: n.hub, Applied: &n.applied, Retained: n.retained,
		Fits: func(uint64) error { return nil }, Installed: func(uint64) {}, Hurries: func() bool { return true },
		Lifecycle: n.life, Logger: quiet, Registerer: prometheus.NewRegistry(),
	})
	return n
}

// entryOf returns an entry that creates an object.
func entryOf(name string) ([]byte, error) {
	return write.Create{
		Key: state.NewKey("configmaps", "", name), Object: &state.Object{Value: []byte("{}"), UID: name},
	}.Encode()
}

// entryList is a log on disk.
type entryList [][]byte

func (entryList) FirstIndex() (uint64, error) { return 1, nil }

func (l entryList) Read(_ context.Context, after, upTo uint64, _ int, fn func(uint64, []byte) error) (uint64, error) {
	for after < min(upTo, uint64(len(l))) {
		if err := fn(after+1, l[after]); err != nil {
			return after, err
		}
		after++
	}
	return after, nil
}

func commandAt(index uint64, data []byte) *raft.Log {
	return &raft.Log{Index: index, Type: raft.LogCommand, Data: data}
}
