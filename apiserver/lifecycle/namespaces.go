package lifecycle

import (
	"context"
	"maps"
	"slices"

	"quorate/apiserver/deletion"
	"quorate/apiserver/stored"
	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// emptyNamespaces follows the namespaces and brings those that are going to their end (G38). A namespace that is going is
// sealed, so nothing is added to it while it is emptied.
func (l *Lifecycle) emptyNamespaces(ctx context.Context) error {
	root, err := l.store.View(ctx, raftstore.Cached())
	if err != nil {
		return err
	}
	prefix := stored.Prefix(l.namespaces, "")
	going := map[state.Key]uint64{}
	root.Ascend(prefix, "", func(o *state.Object) bool {
		if o.Sealed {
			going[o.Key] = o.Version
		}
		return true
	})
	changes, err := l.store.Watch(prefix, root.Index())
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		l.metrics.terminating.Set(float64(len(going)))
		for _, key := range slices.Sorted(maps.Keys(going)) {
			gone, err := l.end(ctx, key, going[key])
			if err != nil {
				return err
			}
			if gone {
				delete(going, key)
			}
		}
		if err := followNamespaces(ctx, changes, going); err != nil {
			return err
		}
	}
	return nil
}

// followNamespaces waits for changes of namespaces; while some are going it looks again soon, as what they wait for are
// changes of their content.
func followNamespaces(ctx context.Context, changes *history.Cursor, going map[state.Key]uint64) error {
	if len(going) > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, retryPause)
		defer cancel()
	}
	events, err := changes.Next(ctx)
	if err != nil && ctx.Err() == nil {
		return err
	}
	for _, e := range events {
		if e.Type == history.Deleted {
			delete(going, e.Object.Key)
		} else if e.Object.Sealed {
			going[e.Object.Key] = e.Index
		}
	}
	return nil
}

// end deletes what is in a namespace that is going since a version and, when nothing is left, takes the server's finalizer
// off; gone says that this was all there is to do.
func (l *Lifecycle) end(ctx context.Context, key state.Key, since uint64) (gone bool, err error) {
	before := -1
	for {
		root, err := l.store.View(ctx, raftstore.AtLeast(since))
		if err != nil {
			return false, err
		}
		namespace := root.Get(key)
		if namespace == nil || !namespace.Sealed {
			return true, nil
		}
		// A kind of this state may not be served here yet, and nothing may be left of it.
		catalog, err := l.catalogOf(ctx, root)
		if err != nil {
			return false, err
		}
		_, _, name := key.Split()
		seen := 0
		for _, k := range kinds(catalog, namespaced) {
			n, err := deletion.Sweep(ctx, l.store, root, k, name, l.metrics.emptied.Inc)
			if err != nil {
				return false, err
			}
			seen += n
		}
		switch {
		case seen == 0:
			return l.finish(ctx, namespace)
		case seen == before:
			return false, nil // what is left waits out a grace period, or for a finalizer
		}
		before = seen
	}
}

// finish takes the server's finalizer off an empty namespace, and with the last finalizer the namespace goes.
func (l *Lifecycle) finish(ctx context.Context, namespace *state.Object) (gone bool, err error) {
	decoded, err := l.namespaces.DecodeStored(namespace.Value)
	if err != nil {
		return false, err
	}
	err = deletion.Commit(ctx, l.store, namespace, deletion.Emptied(decoded))
	if deletion.Lost(err) {
		return false, nil
	}
	return err == nil, err
}
