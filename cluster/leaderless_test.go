package cluster_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"quorate/cluster/keys"
	"quorate/raftstore"
)

// refusalLimit bounds the time of a command that is refused at once.
const refusalLimit = 500 * time.Millisecond

// TestCommandsWithoutQuorum: once a node has known no leader for longer than an election takes, it
// refuses commands that need one at once, and names the voters that are missing. It stays a member.
func TestCommandsWithoutQuorum(t *testing.T) {
	t.Parallel()
	nodes := trio(t, keys.Generate(), nil)
	survivor, lost := nodes[0], nodes[1:]
	for _, n := range lost {
		must(t, n.stop())
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	eventually(t, "the time of an election to pass", func() bool { return survivor.store.Refuse() != nil })
	for command, run := range map[string]func() error{
		"remove": func() error { return survivor.Remove(ctx, lost[0].name) },
		"leave":  func() error { return survivor.Leave(ctx) },
		"transfer-leader": func() error {
			_, err := survivor.TransferLeader(ctx, lost[0].name)
			return err
		},
	} {
		begun := time.Now()
		checkLeaderless(t, command, run())
		if took := time.Since(begun); took > refusalLimit {
			t.Errorf("%s is refused after %s, want at most %s", command, took, refusalLimit)
		}
	}
	for _, n := range lost { // the cluster goes on, with all three members
		start(t, n.setup)
	}
	eventuallyMembers(t, survivor, "n1:voter n2:voter n3:voter")
	eventually(t, "a leader", func() bool { _, ok := survivor.store.Leader(); return ok })
}

func checkLeaderless(t *testing.T, command string, err error) {
	t.Helper()
	refusal, ok := errors.AsType[*raftstore.NoLeaderError](err)
	if !ok || refusal.Voters != 3 || !slices.Equal(refusal.Missing, []string{"n2", "n3"}) {
		t.Errorf("%s comes to %v, want n2 and n3 named", command, err)
	}
}
