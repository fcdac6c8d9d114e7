package lifecycle

import (
	"context"
	"time"

	"quorate/apiserver/controllers/background"
	"quorate/apiserver/objects/deletion"
	"quorate/apiserver/objects/schema"
	"quorate/raftstore"
)

// outlivePause is how long a kind is not looked at that objects outlive.
const outlivePause = 10 * time.Second

// outlive deletes the objects of a kind that were not written for as long as it lives (M17). When
// that was the state knows: an object has the index of its last write, and the state has the time
// of that, on every node, and after a restart.
func (l *Lifecycle) outlive(ctx context.Context, k *schema.Kind) error {
	ttl := l.eventTTL
	if ttl == 0 {
		ttl = time.Duration(k.Strategy.TTLSeconds) * time.Second
	}
	done := uint64(0) // what was last written up to here has been deleted
	for ctx.Err() == nil {
		root, err := l.store.View(ctx, raftstore.Cached())
		if err != nil {
			return err
		}
		if last := root.Times().Before(time.Now().Add(-ttl), root.Index()); last > done {
			if _, err := deletion.SweepOlder(ctx, l.store, root, k, last, l.metrics.outlived.Inc); err != nil {
				return err
			}
			done = last
		}
		background.Pause(ctx, min(outlivePause, ttl))
	}
	return nil
}
