package rest

import (
	"context"
	"testing"
	"time"

	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/objects/validation"
	"quorate/apiserver/rest/route"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// configMaps returns the kind of the objects in these tests.
func configMaps(t *testing.T) *schema.Kind {
	t.Helper()
	catalog, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	return catalog.Stored("configmaps")
}

// configMap returns a stored object.
func configMap(t *testing.T, k *schema.Kind, name, uid string, version uint64) *state.Object {
	t.Helper()
	decoded, err := k.DecodeStored([]byte(
		`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"` + name + `","namespace":"ns","uid":"` + uid + `"}}`))
	if err != nil {
		t.Fatal(err)
	}
	o, _ := stored.Encode(decoded)
	o.Key, o.UID, o.Version = stored.Key(k, "ns", name), uid, version
	return o
}

// contendedStore refuses to delete an object whose version is not the stored one.
type contendedStore struct {
	Store
	root    *state.Root
	have    uint64 // version of the stored object when a delete arrives
	deleted []string
}

func (s *contendedStore) View(context.Context, raftstore.Read) (*state.Root, error) {
	return s.root, nil
}

func (s *contendedStore) Delete(_ context.Context, d raftstore.Delete) (*state.Object, error) {
	if d.Previous.Version < s.have {
		return nil, &state.Conflict{Key: d.Key, Want: d.Previous.Version, Have: s.have}
	}
	s.deleted = append(s.deleted, d.UID)
	return d.Previous, nil
}

// TestDeleteCollectionConflict checks that, after a conflict, a delete of a collection deletes the
// selected object in its new version, but not another object that was created under the same name
// before the state was read again (G31).
func TestDeleteCollectionConflict(t *testing.T) {
	t.Parallel()
	k := configMaps(t)
	selected := configMap(t, k, "a", "selected", 3)
	for _, tc := range []struct {
		name  string
		after *state.Object // what is stored under the name after the conflict
		want  string        // uid of the object that is deleted
	}{
		{"changed", configMap(t, k, "a", "selected", 4), "selected"},
		{"recreated", configMap(t, k, "a", "recreated", 6), ""},
		{"gone", nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tree := state.NewTree()
			if tc.after != nil {
				tree.Set(tc.after)
			}
			tree.Advance(6)
			store := &contendedStore{root: tree.Publish(), have: 4}
			s := &sweep{
				resource: &resource{Handlers: &Handlers{store: store}, kind: k},
				c:        &route.Call{Services: &route.Services{}, Namespace: "ns", Now: time.Unix(1_700_000_000, 0)},
				opts:     &deleteOptions{},
			}
			if err := s.delete(t.Context(), selected); err != nil {
				t.Fatal(err)
			}
			got := ""
			if len(store.deleted) > 0 {
				got = store.deleted[0]
			}
			if got != tc.want || len(store.deleted) > 1 {
				t.Errorf("deleted the objects with the uids %q, want %q", store.deleted, tc.want)
			}
			if n := s.deleted.Load(); n != int64(len(store.deleted)) {
				t.Errorf("counts %d deleted objects, the store deleted %d", n, len(store.deleted))
			}
		})
	}
}
