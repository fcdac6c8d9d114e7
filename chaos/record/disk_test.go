package record

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/transport"
)

// hanging is a log whose writes hang while gate is set.
type hanging struct {
	*raft.InmemStore
	gate atomic.Pointer[chan struct{}]
}

func (h *hanging) StoreLogs(entries []*raft.Log) error {
	if gate := h.gate.Load(); gate != nil {
		<-*gate
	}
	return h.InmemStore.StoreLogs(entries)
}

func (h *hanging) StoreLog(entry *raft.Log) error { return h.StoreLogs([]*raft.Log{entry}) }

// TestHungDisk provokes hashicorp/raft#503: the leader's main loop hangs in a write to its disk,
// but its heartbeats continue, so no other node is elected. With Quorate's transport the test mutes
// the transport, as the store does when a log write takes too long (TestHungDisk of raftstore), and
// another node must be elected.
func TestHungDisk(t *testing.T) {
	kinds(t, func(t *testing.T, n *network) {
		const timeout = 2 * time.Second // no healthy follower stands still for so long, or it would stand for election
		var nodes []*raft.Raft
		var logs []*hanging
		var transports []peerTransport
		var servers []raft.Server
		for i := range 3 {
			id := raft.ServerID(fmt.Sprint(i))
			transports = append(transports, n.transport(string(id)))
			logs = append(logs, &hanging{InmemStore: raft.NewInmemStore()})
			servers = append(servers, raft.Server{ID: id, Address: transports[i].LocalAddr()})
		}
		for i, s := range servers {
			c := config(s.ID)
			c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = timeout, timeout, timeout
			r, err := raft.NewRaft(c, &counter{}, logs[i], logs[i], raft.NewInmemSnapshotStore(), transports[i])
			if err != nil {
				t.Fatal(err)
			}
			defer func() { r.Shutdown().Error() }()
			nodes = append(nodes, r)
		}
		for _, r := range nodes {
			if err := r.BootstrapCluster(raft.Configuration{Servers: servers}).Error(); err != nil {
				t.Fatal(err)
			}
		}
		sick := -1
		eventually(t, "somebody leads and can write", func() bool {
			for i, r := range nodes {
				if r.State() == raft.Leader && r.Apply([]byte("x"), 0).Error() == nil {
					sick = i
					return true
				}
			}
			return false
		})

		gate := make(chan struct{})
		logs[sick].gate.Store(&gate)
		defer close(gate)
		nodes[sick].Apply([]byte("lost"), 0)
		if ours, ok := transports[sick].(*transport.Raft); ok {
			ours.Mute(true)
		}
		wait := patience
		if n.stock { // nobody is to be elected
			wait = 3 * timeout
		}
		replaced := within(wait, func() bool {
			for i, r := range nodes {
				if i != sick && r.State() == raft.Leader {
					return true
				}
			}
			return false
		})
		switch {
		case n.stock && replaced:
			t.Error("not provoked: another leader was elected")
		case !n.stock && !replaced:
			t.Error("nobody was elected in place of the leader with the hung disk")
		}
	})
}
