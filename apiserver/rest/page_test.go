package rest

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"quorate/apiserver/rest/paging"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/status"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// retainingStore retains its one state for as long as it exists.
type retainingStore struct {
	Store
	root *state.Root
}

func (s *retainingStore) View(context.Context, raftstore.Read) (*state.Root, error) {
	return s.root, nil
}
func (s *retainingStore) Pin(context.Context) (*state.Root, error) { return s.root, nil }
func (s *retainingStore) Retained(uint64) *state.Root              { return s.root }

// TestPagesExpireTogether_C37: a later page does not prolong a list. All of its continue values
// expire ten minutes after the first page, even when the state is still retained.
func TestPagesExpireTogether_C37(t *testing.T) {
	t.Parallel()
	k := configMaps(t)
	tree := state.NewTree()
	tree.InitCluster("c")
	for _, name := range []string{"a", "b", "c", "d"} {
		tree.Set(configMap(t, k, name, name, 3))
	}
	tree.Advance(3)
	tokens, err := paging.New([]byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	r := &resource{Handlers: &Handlers{store: &retainingStore{root: tree.Publish()}, continued: tokens}, kind: k}
	began, next := time.Unix(1_700_000_000, 0), ""
	page := func(after time.Duration) error {
		c := &route.Call{Services: &route.Services{}, R: httptest.NewRequest("GET", "/", nil), Namespace: "ns", Now: began.Add(after)}
		p, err := r.page(t.Context(), c, &listOptions{limit: 1, continued: next}, nil)
		if err == nil {
			next = p.next
		}
		return err
	}
	for _, after := range []time.Duration{0, paging.GoodFor / 2, paging.GoodFor - time.Second} {
		if err := page(after); err != nil || next == "" {
			t.Fatalf("the page %s after the first: next %q, error %v", after, next, err)
		}
	}
	if err := page(paging.GoodFor); err == nil || err.Error() != status.NewExpiredContinue().Error() {
		t.Errorf("the page %s after the first: error %v, want %v", paging.GoodFor, err, status.NewExpiredContinue())
	}
}
