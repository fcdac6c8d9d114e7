package lifecycle

import (
	"context"
	"errors"
	"maps"
	"slices"

	"quorate/apiserver/objects/deletion"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// ending is the progress of the deletion of a namespace.
type ending struct {
	since uint64 // version of the namespace when it was last seen
	// allDeleted reports that all objects in the namespace are deleted or marked. As no object can
	// be created in it, only waiting is left.
	allDeleted bool
}

// emptyNamespaces watches the namespaces and deletes the content of terminating ones (G38). No
// object can be created in a terminating namespace, because it is sealed. After an error in one
// namespace, emptyNamespaces attends to the others before it returns the error.
func (l *Lifecycle) emptyNamespaces(ctx context.Context) error {
	defer l.metrics.terminating.Set(0) // the next leader reports them
	root, err := l.store.View(ctx, raftstore.Cached())
	if err != nil {
		return err
	}
	prefix := stored.Prefix(l.namespaces, "")
	going := map[state.Key]*ending{}
	root.Ascend(prefix, "", func(o *state.Object) bool {
		if o.Sealed {
			going[o.Key] = &ending{since: o.Version}
		}
		return true
	})
	changes, err := l.store.Watch(prefix, root.Index())
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		l.metrics.terminating.Set(float64(len(going)))
		if err := l.endAll(ctx, going); err != nil {
			return err
		}
		if err := followNamespaces(ctx, changes, going); err != nil {
			return err
		}
	}
	return nil
}

// endAll continues the deletion of each terminating namespace and removes those that are done from
// going.
func (l *Lifecycle) endAll(ctx context.Context, going map[state.Key]*ending) error {
	var failed []error
	for _, key := range slices.Sorted(maps.Keys(going)) {
		gone, err := l.end(ctx, key, going[key])
		if err != nil {
			failed = append(failed, err)
		}
		if gone {
			delete(going, key)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failed...)
}

// followNamespaces waits for changes of namespaces. If some are terminating, it waits at most
// lookPause, because their progress depends on changes of their content.
func followNamespaces(ctx context.Context, changes *history.Cursor, going map[state.Key]*ending) error {
	if len(going) > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, lookPause)
		defer cancel()
	}
	events, err := changes.Next(ctx)
	if err != nil && ctx.Err() == nil {
		return err
	}
	for _, event := range events {
		key := event.Object.Key
		switch e := going[key]; {
		case event.Type == history.Deleted:
			delete(going, key)
		case event.Object.Sealed && e != nil:
			e.since = event.Index
		case event.Object.Sealed:
			going[key] = &ending{since: event.Index}
		}
	}
	return nil
}

// end deletes the content of a terminating namespace and, when it is empty, removes the server's
// finalizer. gone reports that nothing is left to do.
func (l *Lifecycle) end(ctx context.Context, key state.Key, e *ending) (gone bool, err error) {
	for {
		root, err := l.store.View(ctx, raftstore.AtLeast(e.since))
		if err != nil {
			return false, err
		}
		namespace := root.Get(key)
		if namespace == nil || !namespace.Sealed {
			return true, nil
		}
		// This node may not serve all kinds of this state yet. Their objects have to be deleted,
		// too.
		catalog, err := l.catalogOf(ctx, root)
		if err != nil {
			return false, err
		}
		_, _, name := key.Split()
		if empty(root, catalog, name) {
			return l.finish(ctx, namespace)
		}
		if e.allDeleted {
			return false, nil
		}
		swept, err := l.sweep(ctx, root, catalog, name)
		if err != nil {
			return false, err
		}
		e.allDeleted = swept.Deleted+swept.Missed == 0
		if swept.Deleted == 0 {
			return false, nil // the remaining objects wait for a grace period or a finalizer
		}
	}
}

// empty reports whether a namespace contains no objects.
func empty(root *state.Root, catalog *schema.Catalog, name string) bool {
	for _, k := range kinds(catalog, namespaced) {
		if root.Count(stored.Prefix(k, name)) > 0 {
			return false
		}
	}
	return true
}

// sweep deletes the objects in a namespace, one kind after the other.
func (l *Lifecycle) sweep(ctx context.Context, root *state.Root, catalog *schema.Catalog, name string) (deletion.Swept, error) {
	var all deletion.Swept
	for _, k := range kinds(catalog, namespaced) {
		swept, err := deletion.Sweep(ctx, l.store, root, k, name, l.metrics.emptied.Inc)
		if err != nil {
			return all, err
		}
		all.Deleted += swept.Deleted
		all.Missed += swept.Missed
	}
	return all, nil
}

// finish removes the server's finalizer from an empty namespace, which removes the namespace if it
// has no other finalizer.
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
