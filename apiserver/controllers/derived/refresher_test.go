package derived

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"quorate/raftstore/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func rootAt(index uint64) *state.Root {
	tree := state.NewTree()
	tree.Advance(index)
	return tree.Publish()
}

// TestStaleRequestDoesNotAdvance checks that a request for a state that another request has covered
// in the meantime has no effect.
func TestStaleRequestDoesNotAdvance(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	covered, asked := uint64(0), 0
	k := New(nil, slog.New(slog.DiscardHandler), func(root *state.Root) bool {
		mu.Lock()
		defer mu.Unlock()
		if asked++; asked == 3 { // the second request checks before the first one has finished
			return false
		}
		return root.Index() <= covered
	})
	ctx, cancel := context.WithCancel(t.Context())
	var advanced []uint64
	var answering sync.WaitGroup
	answering.Go(func() {
		k.Answer(ctx, func(_ context.Context, root *state.Root) error {
			mu.Lock()
			defer mu.Unlock()
			advanced = append(advanced, root.Index())
			covered = root.Index()
			return nil
		})
	})
	for _, index := range []uint64{5, 3} {
		if err := k.Refresh(ctx, rootAt(index)); err != nil {
			t.Error(err)
		}
	}
	cancel()
	answering.Wait()
	if len(advanced) != 1 || advanced[0] != 5 || covered != 5 {
		t.Errorf("advanced to %d, covers %d", advanced, covered)
	}
}
