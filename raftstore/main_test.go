package raftstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"quorate/raftstore"
	"quorate/raftstore/state"
	"quorate/raftstore/testcluster"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const resource = "configmaps"

func key(name string) state.Key { return state.NewKey(resource, "default", name) }

// object returns an object without the digits of its version.
func object(name, data string) *state.Object {
	head := `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"` + name + `","resourceVersion":"`
	return &state.Object{
		UID: "uid-" + name, Value: []byte(head + `"},"data":"` + data + `"}`), VersionOffset: uint32(len(head)),
	}
}

// within returns a context with a deadline, as an API server sets one for a request.
func within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func mustCreate(t testing.TB, s *raftstore.Store, name, data string) *state.Object {
	t.Helper()
	o, err := s.Create(within(t, 20*time.Second), raftstore.Create{Key: key(name), Object: object(name, data)})
	if err != nil {
		t.Fatalf("create %s: %v", name, err)
	}
	return o
}

func mustUpdate(t testing.TB, s *raftstore.Store, previous *state.Object, data string) *state.Object {
	t.Helper()
	_, _, name := previous.Key.Split()
	o, err := s.Update(within(t, 20*time.Second), raftstore.Update{
		Key: previous.Key, Object: object(name, data), Previous: previous,
	})
	if err != nil {
		t.Fatalf("update %s: %v", name, err)
	}
	return o
}

func view(t testing.TB, s *raftstore.Store, r raftstore.Read) *state.Root {
	t.Helper()
	root, err := s.View(within(t, 20*time.Second), r)
	if err != nil {
		t.Fatalf("view: %v", err)
	}
	return root
}

func checkVersionInPlace(t *testing.T, o *state.Object) {
	t.Helper()
	if !bytes.Contains(o.Value, []byte(`"resourceVersion":"`+strconv.FormatUint(o.Version, 10)+`"`)) {
		t.Errorf("version %d is not in %s", o.Version, o.Value)
	}
}

func TestWrites(t *testing.T) {
	c := testcluster.New(t, 3, nil)
	c.Ready()
	for i, n := range c.Nodes {
		t.Run("through_"+n.Name, func(t *testing.T) { writeThrough(t, n, fmt.Sprintf("obj%d", i)) })
	}
}

func writeThrough(t *testing.T, n *testcluster.Node, name string) {
	created := mustCreate(t, n.Store, name, "1")
	checkVersionInPlace(t, created)
	// N5: a cached read on the node that responded sees the write.
	if got := view(t, n.Store, raftstore.Cached()).Get(key(name)); got == nil || !bytes.Equal(got.Value, created.Value) ||
		got.Created != created.Created || got.UID != created.UID {
		t.Errorf("cached read after create: %+v, want %+v", got, created)
	}
	_, err := n.Store.Create(within(t, 10*time.Second), raftstore.Create{Key: key(name), Object: object(name, "2")})
	if exists := (*state.Exists)(nil); !errors.As(err, &exists) || exists.Key != key(name) {
		t.Errorf("second create: %v", err)
	}
	_, err = n.Store.Create(within(t, 10*time.Second), raftstore.Create{
		Key: key(name + "g"), Object: object(name, "2"), Guard: state.NewKey("namespaces", "", "nowhere"),
	})
	if guard := (*state.GuardFailed)(nil); !errors.As(err, &guard) || guard.Guard == "" || guard.Sealed {
		t.Errorf("create without its guard: %v", err)
	}

	updated := mustUpdate(t, n.Store, created, "2")
	checkVersionInPlace(t, updated)
	if updated.Version <= created.Version || updated.Created != created.Created {
		t.Errorf("updated to %d of %d, created %d", updated.Version, created.Version, updated.Created)
	}
	_, err = n.Store.Update(within(t, 10*time.Second), raftstore.Update{
		Key: key(name), Object: object(name, "3"), Previous: created,
	})
	if conflict := (*state.Conflict)(nil); !errors.As(err, &conflict) || conflict.Have != updated.Version || conflict.Want != created.Version {
		t.Errorf("update of an old version: %v", err)
	}
	_, err = n.Store.Delete(within(t, 10*time.Second), raftstore.Delete{Key: key(name), Previous: updated, UID: "another"})
	if uid := (*state.UIDMismatch)(nil); !errors.As(err, &uid) || uid.Have != updated.UID || uid.Want != "another" {
		t.Errorf("delete of another uid: %v", err)
	}
	final, err := n.Store.Delete(within(t, 10*time.Second), raftstore.Delete{Key: key(name), Previous: updated})
	if err != nil {
		t.Fatalf("delete: %v", err)
	}
	checkVersionInPlace(t, final)
	if view(t, n.Store, raftstore.Cached()).Get(key(name)) != nil {
		t.Error("the object exists after its deletion")
	}
	_, err = n.Store.Delete(within(t, 10*time.Second), raftstore.Delete{Key: key(name), Previous: updated})
	if missing := (*state.NotFound)(nil); !errors.As(err, &missing) {
		t.Errorf("second delete: %v", err)
	}
}

func TestTooLarge(t *testing.T) {
	c := testcluster.New(t, 1, nil)
	n := c.Leader()
	big := object("big", "")
	big.Value = append(big.Value, make([]byte, raftstore.MaxEntryBytes)...)
	_, err := n.Store.Create(within(t, time.Second), raftstore.Create{Key: key("big"), Object: big})
	if !errors.Is(err, raftstore.ErrTooLarge) {
		t.Errorf("got %v", err)
	}
}
