package garbage

import (
	"errors"
	"strings"
	"testing"

	"quorate/apiserver/objects/deletion"
	"quorate/apiserver/objects/schema"
	"quorate/raftstore/state"
)

func cut(thing string) (name string, owners []string, owned bool) {
	name, list, owned := strings.Cut(thing, "<")
	if owned {
		owners = strings.Split(list, ",")
	}
	return name, owners, owned
}

// TestCollect creates and deletes objects, runs the collector until it has nothing left to do, and
// checks the remaining objects.
func TestCollect(t *testing.T) {
	t.Parallel()
	catalog := catalogOf(t)
	const bg, fg, orphan = deletion.Background, deletion.Foreground, deletion.Orphan
	cm := func(w *world, name string, refs ...ref) *state.Object {
		return w.put("ConfigMap", "a", name, nil, refs...)
	}
	for name, story := range map[string]func(w *world) (want []string){
		"G43 a chain in the background": func(w *world) []string {
			a := cm(w, "a")
			b := cm(w, "b", w.to(a, false))
			cm(w, "c", w.to(b, true))
			cm(w, "other")
			w.delete(a.Key, bg)
			return []string{"other"}
		},
		"G43 of several owners one is gone": func(w *world) []string {
			a, b := cm(w, "a"), cm(w, "b")
			cm(w, "c", w.to(a, true), w.to(b, true))
			w.delete(a.Key, bg)
			return []string{"b", "c<b"}
		},
		"G44 the name has another uid": func(w *world) []string {
			r := w.to(cm(w, "a"), false)
			r.uid = "11111111-1111-4111-8111-111111111111"
			cm(w, "b", r)
			return []string{"a"}
		},
		"G45 an owner in another namespace is none": func(w *world) []string {
			a := w.put("ConfigMap", "elsewhere", "a", nil)
			cm(w, "b", w.to(a, true))
			return []string{"a"}
		},
		"G45 an owner in another namespace does not wait": func(w *world) []string {
			a := w.put("ConfigMap", "elsewhere", "a", nil)
			w.put("ConfigMap", "a", "held", []string{"x.io/f"}, w.to(a, true))
			w.delete(a.Key, fg)
			return []string{"held!<a"}
		},
		"G45 a cluster-scoped owner": func(w *world) []string {
			n := w.put("Node", "", "n", nil)
			cm(w, "b", w.to(n, false))
			w.delete(n.Key, bg)
			return nil
		},
		"G46 a cluster-scoped dependent of a namespaced owner": func(w *world) []string {
			a := cm(w, "a")
			w.put("Node", "", "n", nil, w.to(a, true))
			w.delete(a.Key, bg)
			return []string{"n<a"}
		},
		"G48 an owner of unknown kind": func(w *world) []string {
			cm(w, "b", ref{"apps/v7", "Gadget", "g", "22222222-2222-4222-8222-222222222222", true})
			return []string{"b<g"}
		},
		"G24 kinds that are not collected": func(w *world) []string {
			a := cm(w, "a")
			w.put("HostSubnet", "", "s", nil, ref{"v1", "Node", "n", "33333333-3333-4333-8333-333333333333", true})
			w.delete(a.Key, bg)
			return []string{"s<n"}
		},
		"G24 they are owners": func(w *world) []string {
			s := w.put("Image", "", "i", nil)
			cm(w, "b", w.to(s, false))
			w.delete(s.Key, fg)
			return nil
		},
		"G21 orphans": func(w *world) []string {
			a, keeper := cm(w, "a"), cm(w, "k")
			b := cm(w, "b", w.to(a, true))
			cm(w, "c", w.to(a, false), w.to(keeper, false))
			cm(w, "d", w.to(b, false))
			w.delete(a.Key, orphan)
			return []string{"k", "b", "c<k", "d<b"}
		},
		"G21 an orphan that is going": func(w *world) []string {
			a := cm(w, "a")
			b := w.put("ConfigMap", "a", "b", []string{"x.io/f"}, w.to(a, false))
			w.delete(b.Key, bg)
			w.delete(a.Key, orphan)
			return []string{"b!"}
		},
		"G22 a tree in the foreground": func(w *world) []string {
			a := cm(w, "a")
			b := cm(w, "b", w.to(a, true))
			cm(w, "c", w.to(b, true))
			cm(w, "d", w.to(a, false))
			w.delete(a.Key, fg)
			return nil
		},
		"G22 the owner waits for what blocks": func(w *world) []string {
			a := cm(w, "a")
			w.put("ConfigMap", "a", "b", []string{"x.io/f"}, w.to(a, true))
			w.delete(a.Key, fg)
			return []string{"a!", "b!<a"}
		},
		"G22 and not for what does not": func(w *world) []string {
			a := cm(w, "a")
			w.put("ConfigMap", "a", "b", []string{"x.io/f"}, w.to(a, false))
			w.delete(a.Key, fg)
			return []string{"b!<a"}
		},
		"G22 a dependent with another owner stays": func(w *world) []string {
			a, k := cm(w, "a"), cm(w, "k")
			cm(w, "b", w.to(a, true), w.to(k, true))
			w.delete(a.Key, fg)
			return []string{"k", "b<k"}
		},
		"G22 an object that owns itself": func(w *world) []string {
			a := cm(w, "a")
			decoded := w.own(a, w.to(a, true))
			w.delete(decoded.Key, fg)
			return nil
		},
		"G22 a cycle": func(w *world) []string {
			a := cm(w, "a")
			b := cm(w, "b", w.to(a, true))
			c := cm(w, "c", w.to(b, true))
			w.own(a, w.to(c, true))
			w.delete(a.Key, fg)
			return nil
		},
		"G22 a cycle, all of it deleted": func(w *world) []string {
			a := cm(w, "a")
			b := cm(w, "b", w.to(a, true))
			w.own(a, w.to(b, true))
			w.delete(a.Key, fg)
			w.delete(b.Key, fg)
			return nil
		},
		"a cycle that nobody deletes": func(w *world) []string {
			a := cm(w, "a")
			b := cm(w, "b", w.to(a, true))
			w.own(a, w.to(b, true))
			return []string{"a<b", "b<a"}
		},
		"G24 a finalizer that is there decides": func(w *world) []string {
			a := cm(w, "a")
			b := w.put("ConfigMap", "a", "b", []string{deletion.OrphanFinalizer}, w.to(a, false))
			cm(w, "c", w.to(b, false))
			w.delete(a.Key, bg)
			return []string{"c"}
		},
		"through a view": func(w *world) []string {
			r := w.put("Role", "a", "r", nil)
			b := w.put("ClusterRoleBinding", "", "b", nil)
			cm(w, "x", w.to(r, false))
			cm(w, "y", ref{"v1", "ClusterRoleBinding", "b", b.UID, false})
			return []string{"r", "b", "x<r", "y<b"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, catalog)
			want := story(w)
			if !w.collect() {
				t.Error("writes failed")
			}
			w.want(want...)
			if writes := w.writes; !w.collect() || w.writes != writes {
				t.Error("the next leader finds something to do")
			}
		})
	}
}

// own adds an owner reference to an object.
func (w *world) own(o *state.Object, r ref) *state.Object {
	w.t.Helper()
	k := w.catalog.Stored(o.Key.Resource())
	decoded, err := k.DecodeStored(o.Value)
	if err != nil {
		w.t.Fatalf("%v", err)
	}
	to := decoded.Metadata().Make("ownerReferences").Append()
	for name, value := range map[string]string{"apiVersion": r.apiVersion, "kind": r.kind, "name": r.name, "uid": r.uid} {
		to.Make(name).SetStr(value)
	}
	to.Make("blockOwnerDeletion").SetBool(r.blocks)
	return w.mark(o, decoded)
}

// TestCollect_retries_failed_objects checks that failed objects are retried even while changes keep
// coming.
func TestCollect_retries_failed_objects(t *testing.T) {
	t.Parallel()
	w := newWorld(t, catalogOf(t))
	a := w.put("ConfigMap", "a", "a", nil)
	b := w.put("ConfigMap", "a", "b", nil, w.to(a, false))
	w.delete(a.Key, deletion.Background)
	w.crash = 0
	run := w.begin()
	if err := run.collect(t.Context()); !errors.Is(err, errQuiet) || len(run.failed) != 1 {
		t.Fatalf("%v, %d failed", err, len(run.failed))
	}
	w.crash = -1
	run.seen-- // pretend that something has changed
	if _, err := run.wait(t.Context()); err != nil || run.queue.len() != 0 {
		t.Fatalf("%v, %d queued before their time", err, run.queue.len())
	}
	run.retryAt = run.retryAt.Add(-pollPause)
	if _, err := run.wait(t.Context()); err != nil || run.queue.len() != 1 || len(run.failed) != 0 {
		t.Fatalf("%v, %d queued", err, run.queue.len())
	}
	if err := run.workBatch(t.Context()); err != nil || w.root.Get(b.Key) != nil {
		t.Fatalf("%v, %v", err, w.left())
	}
}

// TestCollect_learns_kinds checks that the collector learns new kinds and retries failed objects
// even if its queue is never empty.
func TestCollect_learns_kinds(t *testing.T) {
	t.Parallel()
	catalog := catalogOf(t)
	w := newWorld(t, catalog)
	owner := w.put("ConfigMap", "a", "owner", nil)
	w.put("ConfigMap", "a", "hot", nil, w.to(owner, false))
	w.delete(owner.Key, deletion.Background)
	w.lost = 20
	run := w.begin()
	asked := 0
	run.catalog = func() *schema.Catalog {
		asked++
		return catalog
	}
	if err := run.collect(t.Context()); !errors.Is(err, errQuiet) {
		t.Fatal(err)
	}
	if asked < 20 {
		t.Errorf("asked for the kinds %d times while one object changed %d times", asked, 20)
	}
	w.want()
}
