package read

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/lifecycle"
)

// The leader's own term and that of the requesting follower confirm a read only if both are a
// quorum. Otherwise the leader asks others, which fails here because none can be reached.
func TestQuorumIsMoreThanHalf(t *testing.T) {
	life := lifecycle.New()
	life.CloseTasks()
	r := &Reader{cfg: Config{Lifecycle: life}}
	var others []raft.Server
	for n := range 6 {
		for _, voter := range []bool{false, true} {
			for _, voucher := range []string{"", "a follower that does not vote", "n0"} {
				have, total := 0, len(others)
				if voter {
					have, total = 1, total+1
				}
				if voucher == "n0" && n > 0 {
					have++
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				err := r.confirmTerm(ctx, 1, others, voter, voucher)
				cancel()
				if enough := 2*have > total; enough != (err == nil) {
					t.Errorf("%d of %d, of them %q: %v", have, total, voucher, err)
				}
			}
		}
		others = append(others, raft.Server{ID: raft.ServerID(fmt.Sprint("n", n))})
	}
}
