package rest

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest/route"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// laggingStore is the store of a node that has not applied the newest entries: its cached state is
// older than the one that a linearizable read returns.
type laggingStore struct {
	Store
	cached, confirmed *state.Root
	deleted           []string
}

func (s *laggingStore) View(_ context.Context, r raftstore.Read) (*state.Root, error) {
	if r == raftstore.Cached() {
		return s.cached, nil
	}
	return s.confirmed, nil
}

func (s *laggingStore) Delete(_ context.Context, d raftstore.Delete) (*state.Object, error) {
	s.deleted = append(s.deleted, d.UID)
	return d.Previous, nil
}

// holding returns a published state at an index that holds the objects.
func holding(index uint64, objects ...*state.Object) *state.Root {
	tree := state.NewTree()
	tree.InitCluster("c")
	for _, o := range objects {
		tree.Set(o)
	}
	tree.Advance(index)
	return tree.Publish()
}

// newCall returns a request for the object a of namespace ns.
func newCall() *route.Call {
	return &route.Call{Services: &route.Services{}, R: httptest.NewRequest("PUT", "/", nil), Namespace: "ns", Name: "a", Now: time.Unix(1_700_000_000, 0)}
}

// TestDeleteOfAnObjectNotAppliedHere: a delete on a node that lags behind finds an object created
// through another node.
func TestDeleteOfAnObjectNotAppliedHere(t *testing.T) {
	t.Parallel()
	k := configMaps(t)
	store := &laggingStore{cached: holding(3), confirmed: holding(4, configMap(t, k, "a", "created", 4))}
	r := &resource{Handlers: &Handlers{store: store}, kind: k}
	uid, err := r.deleteOne(t.Context(), newCall(), &deleteOptions{})
	if err != nil || uid != "created" || len(store.deleted) != 1 {
		t.Errorf("deleted %q, error %v, want the object created at index 4", uid, err)
	}
}

// TestReplaceOfAVersionNotAppliedHere: a replace on a node that lags behind is not refused for
// naming a version that was written through another node.
func TestReplaceOfAVersionNotAppliedHere(t *testing.T) {
	t.Parallel()
	k := configMaps(t)
	store := &laggingStore{
		cached:    holding(3, configMap(t, k, "a", "uid", 3)),
		confirmed: holding(4, configMap(t, k, "a", "uid", 4)),
	}
	r := &resource{Handlers: &Handlers{store: store}, kind: k}
	u := r.newUpdate(newCall(), &write{}, schema.Update)
	u.conditional = true
	reached := errors.New("derived from the version that the client named")
	u.derive = func(_ context.Context, previous *state.Object) (*schema.Object, error) {
		if previous.Version == 4 {
			return nil, reached
		}
		o, err := k.DecodeStored(previous.Value)
		if err == nil {
			o.SetResourceVersion("4")
		}
		return o, err
	}
	if err := u.run(); !errors.Is(err, reached) {
		t.Errorf("a replace of version 4 on a node at index 3: %v", err)
	}
}

// pinnedStore pins one state and records which states it retains on its own.
type pinnedStore struct {
	Store
	pinned   *state.Root
	retained *state.Root
}

func (s *pinnedStore) Pin(context.Context) (*state.Root, error) { return s.pinned, nil }
func (s *pinnedStore) Retain(root *state.Root)                  { s.retained = root }

// TestKeepReturnsNoOlderState: a list at a version is continued from a state no older than that of
// its first page, even if the state pinned for it is older.
func TestKeepReturnsNoOlderState(t *testing.T) {
	t.Parallel()
	for _, pinned := range []uint64{3, 4, 5} {
		store := &pinnedStore{pinned: holding(pinned)}
		l := &pager{resource: &resource{Handlers: &Handlers{store: store}}, opts: &listOptions{version: "4"}}
		root := holding(4)
		kept, err := l.retain(t.Context(), root)
		if err != nil || kept.Index() < root.Index() {
			t.Errorf("pinned at %d: keeps the state of index %d, error %v; want index 4 or later", pinned, kept.Index(), err)
		}
		if kept != store.pinned && kept != store.retained {
			t.Errorf("pinned at %d: the state of index %d is neither pinned nor retained", pinned, kept.Index())
		}
	}
}
