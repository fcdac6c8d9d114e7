package rest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"quorate/raftstore"
	"quorate/raftstore/state"
)

// starting is a store whose node comes to its state a while after it has started, if it does.
type starting struct {
	Store
	tree *state.Tree
	gets time.Duration // 0: never
}

func (s *starting) View(ctx context.Context, r raftstore.Read) (*state.Root, error) {
	root := s.tree.Publish()
	if r == raftstore.Cached() {
		return root, nil
	}
	if s.gets == 0 || root.Index() > 0 {
		<-ctx.Done()
		return nil, &raftstore.Future{Want: root.Index() + 1, Have: root.Index()}
	}
	time.Sleep(s.gets) // in a bubble, whose clock jumps
	s.tree.Advance(2)
	s.tree.InitCluster("c")
	return s.tree.Publish(), nil
}

// TestPresent_C21: a cached read waits a little for a node that has just started, and gets no empty
// state that never was.
func TestPresent_C21(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		root, err := present(t.Context(), &starting{tree: state.NewTree(), gets: futureWait / 2})
		if err != nil || root.ClusterID() != "c" {
			t.Errorf("got %v, %v", root, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		root, err := present(t.Context(), &starting{tree: state.NewTree()})
		if !errors.Is(err, raftstore.ErrUnavailable) || time.Since(began) != futureWait {
			t.Errorf("got %v, %v after %s", root, err, time.Since(began))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		tree := state.NewTree()
		tree.InitCluster("c")
		if root, err := present(t.Context(), &starting{tree: tree}); err != nil || root.ClusterID() != "c" {
			t.Errorf("got %v, %v", root, err)
		}
	})
}
