package read

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// slowAnswer is how long a slow peer takes: longer than hedge.
const slowAnswer = 2 * hedge

// TestTermsAreCounted: a read that can't be confirmed any more fails when the last peer has
// answered, not when its time is up.
func TestTermsAreCounted(t *testing.T) {
	const (
		term    = 5
		timeout = time.Minute
	)
	for _, c := range []struct {
		name    string
		answers string // of the peers: "ok", "slow", "no", "later" or, of one that says nothing, "-"
		missing int
		took    time.Duration
		failure string // "" where it is confirmed
	}{
		{"enough", "ok ok no no", 2, 0, ""},
		{"others in the place of those that fail", "no no ok ok", 2, 0, ""},
		{"others beside one that is slow", "slow ok - -", 1, hedge, ""},
		{"all have answered, and too few confirm", "ok no no no", 2, 0, "refused"},
		{"one that is late makes it", "no slow no", 1, slowAnswer, ""},
		{"none is left that could make it", "no no - no", 2, 0, "refused"},
		{"a later term", "ok later ok ok", 2, 0, "is in term 6"},
		{"one says nothing", "ok - no no", 2, timeout, "deadline"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), timeout)
				defer cancel()
				var peers []raft.Server
				for _, answer := range strings.Fields(c.answers) {
					peers = append(peers, raft.Server{ID: raft.ServerID(answer)})
				}
				start := time.Now()
				err := countTerms(ctx, term, peers, c.missing, answering(term), func(string) {})
				if took := time.Since(start); took != c.took {
					t.Errorf("took %s, want %s", took, c.took)
				}
				if (err == nil) != (c.failure == "") || err != nil && !strings.Contains(err.Error(), c.failure) {
					t.Errorf("%v, want %q", err, c.failure)
				}
			})
		})
	}
}

// answering answers as a peer's name says.
func answering(term uint64) func(context.Context, raft.Server, chan<- termAnswer) {
	return func(ctx context.Context, peer raft.Server, answers chan<- termAnswer) {
		a := termAnswer{peer: string(peer.ID), term: term}
		switch a.peer {
		case "-":
			return
		case "no":
			a.err = errors.New("refused")
		case "later":
			a.term++
		case "slow":
			time.AfterFunc(slowAnswer, func() { answers <- a })
			return
		}
		answers <- a
	}
}
