package admin

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"quorate/apiserver/wire/status"
	"quorate/raftstore"
)

// A command that needs a leader says which voters are missing and what to do.
func TestRefusalWithoutLeader(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  raftstore.NoLeaderError
		want []string
	}{
		"voters are down":  {raftstore.NoLeaderError{For: time.Minute, Voters: 3, Missing: []string{"n2", "n3"}}, []string{"n2, n3", "start what is down", "quorate recover"}},
		"no voter is down": {raftstore.NoLeaderError{For: time.Minute, Voters: 3}, []string{"no leader for 1m0s", "see their logs"}},
		"no cluster yet":   {raftstore.NoLeaderError{For: time.Minute}, []string{"belongs to no cluster yet", "see its log"}},
	} {
		refusal, ok := errors.AsType[*status.Error](refusalOf(fmt.Errorf("remove: %w", &c.err)))
		if !ok || refusal.Status.Code != http.StatusServiceUnavailable {
			t.Errorf("%s: the refusal is %v, want 503", name, refusal)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(refusal.Status.Message, part) {
				t.Errorf("%s: the message %q lacks %q", name, refusal.Status.Message, part)
			}
		}
	}
}
