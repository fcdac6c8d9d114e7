package lifecycle

import (
	"context"
	"time"

	"quorate/apiserver/controllers/background"
	"quorate/apiserver/objects/deletion"
	"quorate/apiserver/objects/schema"
	"quorate/raftstore"
)

// expiryPause is the interval between two checks of a kind whose objects expire.
const expiryPause = 10 * time.Second

// expireByAge deletes, until ctx ends, the objects of a kind whose last write is older than
// eventTTL or, if that is 0, than the kind's time to live (M17). The age follows from the index of
// the last write and from the times of indexes. Both are part of the replicated state, so that all
// nodes agree on it, even after a restart.
func (l *Lifecycle) expireByAge(ctx context.Context, k *schema.Kind) error {
	ttl := l.eventTTL
	if ttl == 0 {
		ttl = time.Duration(k.Strategy.TTLSeconds) * time.Second
	}
	done := uint64(0) // objects last written at or before this index are deleted
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
		background.Pause(ctx, min(expiryPause, ttl))
	}
	return nil
}
