package record

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore"
)

// attempts is how often the race is tried: when leadership is lost, the replication ends or takes
// up one thing more, as chance has it.
const attempts = 8

// TestEndlessTransferEndsNode provokes hashicorp/raft#696: a leader tries several times to transfer
// leadership to a follower that does not respond, and loses leadership during the last attempt. The
// goroutine of that transfer waits forever for a replication that has ended, and the library still
// reports a transfer in progress, so the node refuses every write after it is elected again. The
// store must accept writes or end with an error.
func TestEndlessTransferEndsNode(t *testing.T) {
	t.Run("stock", func(t *testing.T) {
		n := newNetwork(t, true)
		trans := n.transport("a")
		b, c := n.puppet("b", n.transport("b")), n.puppet("c", n.transport("c"))
		log := raft.NewInmemStore()
		cfg := config("a")
		cfg.ElectionTimeout, cfg.HeartbeatTimeout, cfg.LeaderLeaseTimeout = time.Second, time.Second, time.Second
		r, a := n.among(cfg, &counter{}, log, oneAtATime{trans}, b, c)
		write := func() error { return r.Apply([]byte("x"), 0).Error() }
		stuck := false
		for range attempts {
			b.elect(t, library{r}, a)
			cutShort(t, library{r}, a, b, c, write, func() error { return r.LeadershipTransferToServer(b.id, b.LocalAddr()).Error() })
			c.elect(t, library{r}, a)
			// Three times as long as a transfer may take.
			if stuck = !within(3*cfg.ElectionTimeout, func() bool { return write() == nil }); stuck {
				break
			}
		}
		if !stuck {
			t.Error("not provoked: the node takes writes")
		}
	})

	t.Run("quorate", func(t *testing.T) {
		n := newNetwork(t, false)
		b, c := n.storePuppet("b"), n.storePuppet("c")
		a := n.replica(t.TempDir(), 0.5)
		if err := a.Bootstrap(servers(a.server, b, c)); err != nil {
			t.Fatal(err)
		}
		writes := 0
		write := func() error {
			writes++
			key, o := object(fmt.Sprint(writes))
			_, err := a.Create(bounded(t, 100*time.Millisecond), raftstore.Create{Key: key, Object: o})
			return err
		}
		ended := false
		for range attempts {
			b.elect(t, a, a.server)
			eventually(t, "the store leads", func() bool { return a.IsLeader() && a.Ready() == nil })
			cutShort(t, a, a.server, b.puppet, c.puppet, write, func() error { return a.TransferLeadership("b") })
			c.elect(t, a, a.server)
			eventually(t, "the node takes writes, or ends", func() bool {
				select {
				case err := <-a.ended:
					ended = true
					if err == nil || !strings.Contains(err.Error(), "raft#696") {
						t.Errorf("ended with %v", err)
					}
					return true
				default:
					return write() == nil
				}
			})
			if ended {
				break
			}
		}
		if ended {
			a.ended <- nil
		} else {
			t.Log("not provoked this time; the node takes writes")
		}
	})
}

// oneAtATime is the library's transport without pipelining, as with MaxRPCsInFlight 1: a
// replication that hangs then takes up nothing more, on a machine of any speed.
type oneAtATime struct{ peerTransport }

func (oneAtATime) AppendEntriesPipeline(raft.ServerID, raft.ServerAddress) (raft.AppendPipeline, error) {
	return nil, raft.ErrPipelineReplicationNotSupported
}

// cutShort makes the replica try to hand over to b, which does not answer, and lose leadership to c
// meanwhile.
func cutShort(t *testing.T, r interface {
	candidate
	Term() uint64
}, a raft.Server, b, c *puppet, write, transfer func() error) {
	t.Helper()
	var h holder
	b.answers(h.hold(appends))
	defer h.release()
	eventually(t, "a write is committed", func() bool { return write() == nil }) // b falls behind; c commits it
	eventually(t, "replication to b hangs", func() bool { return h.count() > 0 })
	for range 2 { // one for the replication to hold, one to lie in its queue
		if err := transfer(); err == nil {
			t.Fatal("handed over to a follower that doesn't answer")
		}
	}
	last := make(chan error, 1)
	go func() {
		err := transfer()
		for errors.Is(err, raft.ErrLeadershipTransferInProgress) { // the one before is on its way out
			err = transfer()
		}
		last <- err
	}()
	eventually(t, "the last transfer is under way", func() bool { return write() != nil })
	c.append(t, a, raft.AppendEntriesRequest{Term: r.Term() + 1})
	<-last
	eventually(t, "the replica follows", func() bool { return !r.IsLeader() })
}
