package node

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// record holds the order in which components end.
type record struct {
	mu    sync.Mutex
	ended []string // guarded by mu
}

func (r *record) add(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = append(r.ended, what)
}

// component returns the Run of a component that ends when its context does, and records that as
// what.
func (r *record) component(name string) func(context.Context) error {
	return func(ctx context.Context) error {
		<-ctx.Done()
		r.add(name)
		return nil
	}
}

func TestShutdownOrder(t *testing.T) {
	var order record
	r := &running{group: new(errgroup.Group)}
	r.handOver = func() { order.add("hand over leadership") }
	r.closeFiles = func() error { order.add("close files"); return nil }
	r.peers = r.start("peers", order.component("close peer address"))
	r.rpc = r.start("rpc", order.component("stop serving nodes"))
	r.store = r.start("store", order.component("close Raft"))
	r.cluster = r.start("cluster", order.component("gossip that this node stopped"))
	r.api = r.start("api", order.component("finish requests"))
	r.upkeep = r.start("upkeep", order.component("end upkeep"))
	if err := errors.Join(r.shutdown(), r.group.Wait()); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"finish requests", "hand over leadership", "gossip that this node stopped", "stop serving nodes", "close Raft",
		"close peer address", "end upkeep", "close files",
	}
	if diff := cmp.Diff(want, order.ended); diff != "" {
		t.Error(diff)
	}
}

func TestComponentThatEndsStopsNode(t *testing.T) {
	broken := errors.New("disk is gone")
	for name, run := range map[string]func(context.Context) error{
		"store: disk is gone":   func(context.Context) error { return broken },
		"store ended by itself": func(context.Context) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			group, failed := errgroup.WithContext(t.Context())
			r := &running{group: group}
			part := r.start("store", run)
			<-failed.Done()
			<-part.done
			if err := group.Wait(); err == nil || err.Error() != name {
				t.Errorf("got %v, want %s", err, name)
			}
		})
	}
}
