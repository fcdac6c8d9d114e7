package record

import (
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// TestPipelineDeadlock provokes a fault of the library's pipelined replication that was found here,
// with the default of two requests in flight. The library stops reading the responses of a pipeline
// at the first refusal, and may send two more requests before it notices. The second of them blocks
// forever: the follower receives no entries until this leader is deposed, and Raft's shutdown never
// ends.
func TestPipelineDeadlock(t *testing.T) {
	kinds(t, func(t *testing.T, n *network) {
		trans := n.transport("l")
		follower := n.puppet("f", n.transport("f"))
		follower.answers(func(rpc raft.RPC) bool {
			rpc.Respond(&raft.AppendEntriesResponse{}, nil) // refused
			return true
		})
		pipeline, err := trans.AppendEntriesPipeline(follower.id, follower.LocalAddr())
		if err != nil {
			t.Fatal(err)
		}
		defer pipeline.Close()
		req := &raft.AppendEntriesRequest{RPCHeader: follower.header(), Term: 1, PrevLogEntry: 1, PrevLogTerm: 1}
		if _, err := pipeline.AppendEntries(req, &raft.AppendEntriesResponse{}); err != nil {
			t.Fatal(err)
		}
		if answer := <-pipeline.Consumer(); answer.Response().Success {
			t.Fatal("not refused")
		} // here the library's decoder ends, and nobody takes answers any more
		returned := make(chan struct{})
		go func() {
			defer close(returned)
			for range 2 {
				if _, err := pipeline.AppendEntries(req, &raft.AppendEntriesResponse{}); err != nil {
					return
				}
			}
		}()
		wait := patience
		if n.stock { // they are not to return
			wait = 3 * time.Second
		}
		back := within(wait, func() bool {
			select {
			case <-returned:
				return true
			default:
				return false
			}
		})
		switch {
		case n.stock && back:
			t.Error("not provoked: the sends returned")
		case !n.stock && !back:
			t.Error("a send never returns")
		}
		pipeline.Close()
		<-returned
	})
}
