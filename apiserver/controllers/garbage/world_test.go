package garbage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	kindfiles "quorate/apiserver/kinds"
	"quorate/apiserver/objects/deletion"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/objects/validation"
	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// errQuiet ends a collection when nothing is left to do. errCrash means that leadership is lost.
var (
	errQuiet = errors.New("nothing happens any more")
	errCrash = errors.New("this node leads no more")
)

// world is a store in memory. It applies each write at once, except those that a test makes fail.
type world struct {
	t       fataler
	catalog *schema.Catalog

	mu     sync.Mutex
	tree   *state.Tree
	root   *state.Root
	hub    *history.Hub
	writes int
	crash  int // the write before which leadership is lost; never if negative
	lost   int // number of writes that conflict with a write of another client
	// watch is called after each write, with the state before it.
	watch func(before *state.Root, key state.Key, removed bool)
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func catalogOf(t testing.TB) *schema.Catalog {
	t.Helper()
	catalog, err := schema.Load(kindfiles.Files, validation.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	return catalog
}

func newWorld(t fataler, catalog *schema.Catalog) *world {
	hub, err := history.New(history.Config{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	w := &world{t: t, catalog: catalog, tree: state.NewTree(), hub: hub, crash: -1}
	w.root = w.tree.Publish()
	return w
}

// View returns errQuiet for a read that waits for a future state, because there are no concurrent
// writes.
func (w *world) View(_ context.Context, r raftstore.Read) (*state.Root, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r == raftstore.AtLeast(w.root.Index()+1) {
		return nil, errQuiet
	}
	return w.root, nil
}

func (w *world) Watch(p state.Prefix, after uint64) (*history.Cursor, error) {
	return w.hub.Watch(p, after), nil
}

func (w *world) WhileLeader(ctx context.Context, fn func(ctx context.Context) error) error {
	return fn(ctx)
}

func (w *world) Update(_ context.Context, u raftstore.Update) (*state.Object, error) {
	return w.write(u.Key, u.Previous, u.UID, u.Object, history.Modified)
}

func (w *world) Delete(_ context.Context, d raftstore.Delete) (*state.Object, error) {
	return w.write(d.Key, d.Previous, d.UID, d.Final, history.Deleted)
}

// write applies an entry as the state machine does.
func (w *world) write(key state.Key, previous *state.Object, uid string, o *state.Object, does history.Type) (*state.Object, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.crash == 0 {
		return nil, errCrash
	}
	if w.lost > 0 {
		w.lost--
		return nil, &state.Conflict{Key: key, Want: previous.Version, Have: previous.Version + 1}
	}
	w.crash--
	w.writes++
	have := w.tree.Get(key)
	index := w.tree.Index() + 1
	w.tree.Advance(index)
	switch {
	case have == nil:
		return nil, &state.NotFound{Key: key}
	case have.UID != uid || uid == "":
		return nil, &state.UIDMismatch{Key: key, Want: uid, Have: have.UID}
	case have.Version != previous.Version:
		return nil, &state.Conflict{Key: key, Want: previous.Version, Have: have.Version}
	}
	if w.watch != nil {
		w.watch(w.root, key, does == history.Deleted)
	}
	final := *have
	if o != nil {
		final = *o
		final.Value = state.Splice(o.Value, o.VersionOffset, index)
	} else {
		final.Value = have.WithVersion(index)
	}
	final.Key, final.Version, final.Created = key, index, have.Created
	w.apply(&final, does)
	return &final, nil
}

func (w *world) apply(o *state.Object, does history.Type) {
	if does == history.Deleted {
		w.tree.Delete(o.Key)
	} else {
		w.tree.Set(o)
	}
	w.root = w.tree.Publish()
	w.hub.Append(o.Version, []*history.Event{{Index: o.Version, Type: does, Object: o}})
}

// ref is an owner reference.
type ref struct {
	apiVersion, kind, name, uid string
	blocks                      bool
}

// put creates an object with owners and finalizers and returns its stored form.
func (w *world) put(kind, namespace, name string, finalizers []string, refs ...ref) *state.Object {
	w.t.Helper()
	var k *schema.Kind
	for _, each := range w.catalog.Kinds() {
		if each.Kind == kind && each.Storage() == each {
			k = each
		}
	}
	o := k.New()
	o.SetName(name)
	o.SetNamespace(namespace)
	stored.Begin(o, time.Unix(1_700_000_000, 0))
	for _, f := range finalizers {
		o.MakeFinalizers().Append().SetStr(f)
	}
	for _, r := range refs {
		to := o.Metadata().Make("ownerReferences").Append()
		for name, value := range map[string]string{"apiVersion": r.apiVersion, "kind": r.kind, "name": r.name, "uid": r.uid} {
			to.Make(name).SetStr(value)
		}
		if r.blocks {
			to.Make("blockOwnerDeletion").SetBool(true)
		}
	}
	encoded, _ := stored.Encode(o)
	w.mu.Lock()
	defer w.mu.Unlock()
	index := w.tree.Index() + 1
	w.tree.Advance(index)
	encoded.Key, encoded.Version, encoded.Created = stored.Key(k, namespace, name), index, index
	encoded.Value = state.Splice(encoded.Value, encoded.VersionOffset, index)
	w.apply(encoded, history.Added)
	return encoded
}

// to returns a reference to an object.
func (w *world) to(o *state.Object, blocks bool) ref {
	_, _, name := o.Key.Split()
	k := w.catalog.Stored(o.Key.Resource())
	return ref{k.APIVersion, k.Kind, name, o.UID, blocks}
}

// delete deletes an object as a client does.
func (w *world) delete(key state.Key, policy deletion.Policy) {
	w.t.Helper()
	o := w.root.Get(key)
	if o == nil {
		return
	}
	decoded, err := w.catalog.Stored(key.Resource()).DecodeStored(o.Value)
	if err == nil {
		err = deletion.Commit(context.Background(), w, o, deletion.Decide(decoded, deletion.Options{Policy: policy}, time.Unix(1_700_000_100, 0)))
	}
	if err != nil {
		w.t.Fatalf("delete %q: %v", key, err)
	}
}

// begin returns the collection of a new leader.
func (w *world) begin() *collection {
	return New(Config{
		Store: w, Catalog: func() *schema.Catalog { return w.catalog },
		Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
	}).begin()
}

// collect runs a new leader until nothing is left to do (done) or leadership is lost.
func (w *world) collect() (done bool) {
	w.t.Helper()
	run := w.begin()
	if err := run.collect(context.Background()); !errors.Is(err, errQuiet) {
		w.t.Fatalf("collect: %v", err)
	}
	return len(run.failed) == 0
}

// left returns the owners of each stored object, by the object's name. The names of objects that
// are being deleted have the suffix "!".
func (w *world) left() map[string][]string {
	w.t.Helper()
	found := map[string][]string{}
	w.root.Ascend("", "", func(o *state.Object) bool {
		l, err := readLinks(w.catalog.Stored(o.Key.Resource()), o)
		if err != nil {
			w.t.Fatalf("%v", err)
		}
		_, _, name := o.Key.Split()
		if l.going() {
			name += "!"
		}
		owners := []string{}
		for _, r := range l.Owners {
			owners = append(owners, r.Name)
		}
		found[name] = owners
		return true
	})
	return found
}

// want checks the stored objects, given as "name", "name<owner,owner" etc.
func (w *world) want(things ...string) {
	w.t.Helper()
	have := w.left()
	for _, thing := range things {
		name, owners, _ := cut(thing)
		got, there := have[name]
		if !there || fmt.Sprint(got) != fmt.Sprint(owners) {
			w.t.Fatalf("want %s, have %v", thing, have)
		}
		delete(have, name)
	}
	if len(have) > 0 {
		w.t.Fatalf("left over: %v", have)
	}
}

// mark replaces a stored object.
func (w *world) mark(previous *state.Object, o *schema.Object) *state.Object {
	w.t.Helper()
	d := deletion.Decision{Action: deletion.Mark, Object: o}
	if err := deletion.Commit(context.Background(), w, previous, d); err != nil {
		w.t.Fatalf("%v", err)
	}
	return w.root.Get(previous.Key)
}
