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

// slowResponse is the time that a slow peer takes: longer than hedge.
const slowResponse = 2 * hedge

// A read that can no longer be confirmed fails when the last peer has responded, not at its
// deadline.
func TestCountTerms(t *testing.T) {
	const (
		term    = 5
		timeout = time.Minute
	)
	for _, c := range []struct {
		name    string
		answers string // the peers' responses: "ok", "slow", "no", "later", or "-" for none
		missing int
		took    time.Duration
		failure string // "" if the read is confirmed
	}{
		{"enough", "ok ok no no", 2, 0, ""},
		{"others replace those that fail", "no no ok ok", 2, 0, ""},
		{"another in addition to a slow one", "slow ok - -", 1, hedge, ""},
		{"all have responded, too few confirm", "ok no no no", 2, 0, "refused"},
		{"a late response completes the quorum", "no slow no", 1, slowResponse, ""},
		{"no remaining peer could complete the quorum", "no no - no", 2, 0, "refused"},
		{"a later term", "ok later ok ok", 2, 0, "is in term 6"},
		{"one does not respond", "ok - no no", 2, timeout, "deadline"},
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
				err := countTerms(ctx, term, peers, c.missing, respondAs(term), func(string) {})
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

// respondAs responds as a peer's name says.
func respondAs(term uint64) func(context.Context, raft.Server, chan<- termResponse) {
	return func(ctx context.Context, peer raft.Server, answers chan<- termResponse) {
		a := termResponse{peer: string(peer.ID), term: term}
		switch a.peer {
		case "-":
			return
		case "no":
			a.err = errors.New("refused")
		case "later":
			a.term++
		case "slow":
			time.AfterFunc(slowResponse, func() { answers <- a })
			return
		}
		answers <- a
	}
}
