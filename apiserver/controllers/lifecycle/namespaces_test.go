package lifecycle

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/apiserver/objects/deletion"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

var errBroken = errors.New("this write fails")

// memory is a store that applies all writes except those of objects that are made to fail.
type memory struct {
	Store   // nil, for the methods that the tests do not call
	catalog *schema.Catalog

	mu     sync.Mutex
	tree   *state.Tree
	broken string // part of the keys of objects whose writes fail
	beaten string // part of the key of an object that another client changes just before its next write
}

func (m *memory) View(context.Context, raftstore.Read) (*state.Root, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tree.Publish(), nil
}

func (m *memory) Update(_ context.Context, u raftstore.Update) (*state.Object, error) {
	return u.Object, m.put(u.Key, u.Object)
}

func (m *memory) Delete(_ context.Context, d raftstore.Delete) (*state.Object, error) {
	return d.Previous, m.put(d.Key, nil)
}

func (m *memory) put(key state.Key, o *state.Object) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken != "" && strings.Contains(string(key), m.broken) {
		return errBroken
	}
	if m.beaten != "" && strings.Contains(string(key), m.beaten) {
		m.beaten = ""
		return &state.Conflict{Key: key, Have: m.tree.Index(), Want: m.tree.Index() - 1}
	}
	m.tree.Advance(m.tree.Index() + 1)
	m.tree.Stamp(time.Now())
	if o == nil {
		m.tree.Delete(key)
		return nil
	}
	made := *o
	made.Key, made.Version = key, m.tree.Index()
	made.Value = state.Splice(o.Value, o.VersionOffset, made.Version)
	m.tree.Set(&made)
	return nil
}

// make stores a new object.
func (m *memory) make(t *testing.T, resource, namespace, name string, finalizers ...string) {
	t.Helper()
	k := m.catalog.Stored(resource)
	o := k.New()
	o.SetName(name)
	o.SetNamespace(namespace)
	for _, f := range finalizers {
		o.MakeFinalizers().Append().SetStr(f)
	}
	stored.Begin(o, time.Now())
	encoded, _ := stored.Encode(o)
	if err := m.put(stored.Key(k, namespace, name), encoded); err != nil {
		t.Fatal(err)
	}
}

// going creates a terminating namespace that contains one object.
func (m *memory) going(t *testing.T, name string, finalizers ...string) state.Key {
	t.Helper()
	m.make(t, stored.Namespaces, "", name)
	m.make(t, "configmaps", name, "m", finalizers...)
	key := stored.NamespaceKey(name)
	o := m.tree.Get(key)
	decoded, err := m.catalog.Stored(stored.Namespaces).DecodeStored(o.Value)
	if err == nil {
		err = deletion.Commit(t.Context(), m, o, deletion.Decide(decoded, deletion.Options{}, time.Now()))
	}
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newMemory(t *testing.T) (*memory, *Lifecycle) {
	t.Helper()
	catalog := catalogOf(t)
	m := &memory{catalog: catalog, tree: state.NewTree()}
	l, err := New(Config{
		Store: m, Catalog: catalog, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
		CatalogOf: func(context.Context, *state.Root) (*schema.Catalog, error) { return catalog, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return m, l
}

// TestEndAll_continues_after_an_error checks that a namespace whose deletion fails does not delay
// the others (G38).
func TestEndAll_continues_after_an_error(t *testing.T) {
	t.Parallel()
	m, l := newMemory(t)
	going := map[state.Key]*ending{}
	for _, name := range []string{"a", "b", "c"} {
		going[m.going(t, name)] = &ending{}
	}
	m.broken = "configmaps\x00b\x00"
	if err := l.endAll(t.Context(), going); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
	if len(going) != 1 || going[stored.NamespaceKey("b")] == nil || m.tree.Publish().Len() != 2 {
		t.Errorf("left: %v, %d objects", going, m.tree.Publish().Len())
	}
}

// TestEnd_deletes_each_object_once checks that a namespace that waits for its content is only
// checked for being empty (G38, G39).
func TestEnd_deletes_each_object_once(t *testing.T) {
	t.Parallel()
	m, l := newMemory(t)
	key := m.going(t, "held", "x.io/held")
	going := map[state.Key]*ending{key: {}}
	if err := l.endAll(t.Context(), going); err != nil || len(going) != 1 || !going[key].allDeleted {
		t.Fatalf("%v, left: %v", err, going)
	}
	content := stored.Key(m.catalog.Stored("configmaps"), "held", "m")
	unreadable := *m.tree.Get(content)
	unreadable.Value = []byte("nobody decodes this")
	m.tree.Set(&unreadable)
	if err := l.endAll(t.Context(), going); err != nil || len(going) != 1 {
		t.Fatalf("it is read again: %v, left: %v", err, going)
	}
	m.tree.Delete(content)
	if err := l.endAll(t.Context(), going); err != nil || len(going) != 0 || m.tree.Get(key) != nil {
		t.Fatalf("%v, left: %v", err, going)
	}
}

// TestEnd_repeats_lost_writes checks that an object that changes while its namespace is being
// emptied is deleted in the next round (G38).
func TestEnd_repeats_lost_writes(t *testing.T) {
	t.Parallel()
	for name, others := range map[string][]string{"alone": nil, "among_others": {"a", "z"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, l := newMemory(t)
			key := m.going(t, "busy")
			for _, other := range others {
				m.make(t, "configmaps", "busy", other)
			}
			m.beaten = "configmaps\x00busy\x00m"
			going := map[state.Key]*ending{key: {}}
			for range 3 {
				if err := l.endAll(t.Context(), going); err != nil {
					t.Fatal(err)
				}
			}
			if m.beaten != "" {
				t.Fatal("no write was refused")
			}
			if len(going) != 0 || m.tree.Get(key) != nil {
				t.Errorf("after three rounds %d objects are left: the one whose write was refused was not deleted", m.tree.Publish().Len())
			}
		})
	}
}

// TestFollowNamespaces checks that a namespace whose objects are all deleted keeps this mark when
// it changes, and that a new namespace with the same name starts without it.
func TestFollowNamespaces(t *testing.T) {
	t.Parallel()
	hub, err := history.New(history.Config{})
	if err != nil {
		t.Fatal(err)
	}
	key := stored.NamespaceKey("a")
	going, changes, index := map[state.Key]*ending{}, hub.Watch(state.ResourcePrefix(stored.Namespaces), 0), uint64(0)
	for _, tc := range []struct {
		does       history.Type
		sealed     bool
		allDeleted bool
		want       int
	}{
		{history.Added, false, false, 0},
		{history.Modified, true, false, 1},
		{history.Modified, true, true, 1},
		{history.Deleted, true, false, 0},
		{history.Added, false, false, 0},
		{history.Modified, true, false, 1},
	} {
		index++
		hub.Append(index, []*history.Event{{Index: index, Type: tc.does, Object: &state.Object{Key: key, Version: index, Sealed: tc.sealed}}})
		if err := followNamespaces(t.Context(), changes, going); err != nil {
			t.Fatal(err)
		}
		e := going[key]
		if len(going) != tc.want || e != nil && (e.allDeleted != tc.allDeleted || e.since != index) {
			t.Fatalf("event %d: %v, %+v", index, going, e)
		}
		if e != nil {
			e.allDeleted = true
		}
	}
}
