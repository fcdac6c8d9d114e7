package custom

import (
	"context"
	"errors"
	"testing"

	"quorate/apiserver/rest"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// pinned is a store that pins a newer state than that of this node.
type pinned struct {
	rest.Store
	root *state.Root
}

func (p *pinned) Pin(context.Context) (*state.Root, error) { return p.root, nil }

// TestPinChecksTheOwner checks that a paged list of instances fails if the ThirdPartyResource was
// deleted or created again since the request was routed (K13).
func TestPinChecksTheOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("crontab.x.y", "1", "v1")
	before := w.set(&Set{})
	owner := before.owner("1")
	store := w.served.Instances(&pinned{root: w.tree.Publish()}, owner)
	if _, err := store.Pin(t.Context()); err != nil {
		t.Errorf("pinned with its owner: %v", err)
	}
	for _, tc := range []struct {
		what   string
		change func()
	}{
		{"deleted", func() { w.drop("crontab.x.y") }},
		{"made again", func() { w.put("crontab.x.y", "2", "v1") }},
	} {
		tc.change()
		w.served.current.Store(w.set(before)) // this node has caught up
		store := w.served.Instances(&pinned{root: w.tree.Publish()}, owner)
		if _, err := store.Pin(t.Context()); !isStale(err) {
			t.Errorf("%s: %v", tc.what, err)
		}
	}
}

// lagging is a store whose history is behind its state.
type lagging struct {
	Store
	asked, there chan struct{}
}

func (l *lagging) View(context.Context, raftstore.Read) (*state.Root, error) {
	close(l.asked)
	<-l.there
	return nil, nil
}

// TestRemovedVersionEndsAtAReachedIndex checks that the watches of a removed version end at an
// index that history has reached. Otherwise they would wait for another event and send it (K15).
func TestRemovedVersionEndsAtAReachedIndex(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	store := &lagging{asked: make(chan struct{}), there: make(chan struct{})}
	w.served.store = store
	w.put("crontab.x.y", "1", "v1", "v2")
	before := w.set(&Set{})
	w.put("crontab.x.y", "1", "v2")
	now := w.set(before)
	ended := make(chan error, 1)
	go func() { ended <- w.served.end(t.Context(), nil, before.owner("1"), now.owner("1"), w.tree.Publish()) }()
	<-store.asked
	gone, stays := before.owner("1").end("v1"), before.owner("1").end("v2")
	if gone.Reached() {
		t.Error("ended before its watches can reach the end")
	}
	close(store.there)
	if err := <-ended; err != nil || !gone.Reached() || stays.Reached() {
		t.Errorf("error %v; ended: %v, and the other: %v", err, gone.Reached(), stays.Reached())
	}
}

// TestCatalogOf checks that CatalogOf includes kinds of the state that are not served yet.
// Otherwise a namespace that contains objects of such a kind would count as empty (K16).
func TestCatalogOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		w.served.Answer(ctx, func(ctx context.Context, root *state.Root) error {
			return w.served.advance(ctx, nil, root, func(*Set) error { return nil })
		})
	}()
	w.put("crontab.x.y", "1", "v1")
	got, err := w.served.CatalogOf(t.Context(), w.tree.Publish())
	if err != nil || got.Kind("/apis/x.y/v1", "crontabs") == nil {
		t.Errorf("error %v, catalog %v", err, got)
	}
	cancel()
	<-over
}

func isStale(err error) bool {
	_, stale := errors.AsType[*Stale](err)
	return stale
}
