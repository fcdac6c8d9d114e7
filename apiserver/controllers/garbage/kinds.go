package garbage

import (
	"context"

	"quorate/apiserver/objects/deletion"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// typeName identifies a kind in a reference.
type typeName struct{ apiVersion, kind string }

// kinds holds the kinds that a collection knows. It keeps a kind that is no longer in the catalog
// until its objects are removed, so that the collector finds their dependents.
type kinds struct {
	catalog  *schema.Catalog // the catalog that the kinds are from
	byName   map[typeName]*schema.Kind
	followed map[string]*follower // by resource
}

// follower reads the changes of one stored kind.
type follower struct {
	kind    *schema.Kind
	changes *history.Cursor
}

func newKinds() *kinds {
	return &kinds{byName: map[typeName]*schema.Kind{}, followed: map[string]*follower{}}
}

// owner returns the kind that a reference names, or nil if the kind is unknown.
func (k *kinds) owner(r reference) *schema.Kind { return k.byName[typeName{r.APIVersion, r.Kind}] }

// learnKinds adopts the current catalog. It reads the objects of new kinds from the state and
// queues all dependents, because they may refer to a kind that was unknown before.
func (c *collection) learnKinds(ctx context.Context, root *state.Root) error {
	catalog := c.catalog()
	if catalog == c.kinds.catalog {
		return nil
	}
	if c.queue.len()+len(c.failed) == 0 { // otherwise a queued object may refer to these kinds
		c.kinds.forgetEmpty(catalog, root)
	}
	for _, k := range catalog.Kinds() {
		c.kinds.byName[typeName{k.APIVersion, k.Kind}] = k
		if k.Storage() != k {
			continue
		}
		if f := c.kinds.followed[k.Resource]; f != nil {
			f.kind = k
			continue
		}
		if err := c.take(ctx, root, k); err != nil {
			return err
		}
	}
	c.kinds.catalog = catalog
	for key := range c.graph.edges {
		c.queue.add(key)
	}
	return nil
}

// take adds all objects of a kind to the graph and begins to follow its changes.
func (c *collection) take(ctx context.Context, root *state.Root, k *schema.Kind) error {
	prefix := stored.Prefix(k, "")
	changes, err := c.store.Watch(prefix, root.Index())
	if err != nil {
		return err
	}
	c.kinds.followed[k.Resource] = &follower{kind: k, changes: changes}
	if !deletion.Collected(k) {
		return nil
	}
	root.Ascend(prefix, "", func(o *state.Object) bool {
		err = c.note(k, o, false)
		return err == nil && ctx.Err() == nil
	})
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// forgetEmpty removes kinds that are not in the catalog and have no objects.
func (k *kinds) forgetEmpty(catalog *schema.Catalog, root *state.Root) {
	for name, kind := range k.byName {
		if catalog.Stored(kind.Resource) == nil && root.Count(stored.Prefix(kind, "")) == 0 {
			delete(k.byName, name)
			delete(k.followed, kind.Resource)
		}
	}
}
