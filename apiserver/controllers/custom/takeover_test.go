package custom

import (
	"context"
	"slices"
	"strings"
	"testing"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/objects/validation"
	"quorate/apiserver/rest"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// inheriting are the pairs that let world.define store a definition that has taken over the
// instances of the ThirdPartyResource with the uid 0.
func inheriting(pairs ...string) []string {
	return append([]string{`"generation":1`, `"generation":1,"annotations":{"apiextensions.platform.io/instances-of":"0"}`}, pairs...)
}

func TestTakeover(t *testing.T) {
	t.Parallel()
	const ofDefinition, ofThirdParty = "2:x.y/v1/bs", "0:x.y/v1/bs"
	established := inheriting(`"spec":{"group"`, accepted)
	for _, tc := range []struct {
		name   string
		make   func(w *world)
		routes string
		kept   bool // the instances of the ThirdPartyResource have an owner
	}{
		{"the definition is served", func(w *world) { w.put("b.x.y", "0", "v1"); w.define("bs", "2", "B", inheriting()...) }, ofDefinition, true},
		{"also without its predecessor", func(w *world) {
			w.put("b.x.y", "0", "v1")
			w.define("bs", "2", "B", established...)
			w.drop("b.x.y")
		}, ofDefinition, true},
		{"it has the age of its predecessor", func(w *world) {
			w.put("b.x.y", "0", "v1")
			w.define("as", "1", "A", "as-one", "bs")
			w.define("bs", "2", "B", inheriting()...)
		}, ofDefinition, true},
		{"its predecessor is served if an older one has its names", func(w *world) {
			w.define("as", "1", "B")
			w.put("b.x.y", "0", "v1")
			w.define("bs", "2", "B", inheriting()...)
		}, ofThirdParty + " 1:x.y/v1/as", true},
		{"or if its schema does not compile", func(w *world) {
			w.put("b.x.y", "0", "v1")
			w.define("bs", "2", "B", inheriting(`{"type":"object"}`, `{"type":"object","properties":{"a":{}}}`)...)
		}, ofThirdParty, true},
		{"or if it is deleted", func(w *world) {
			w.put("b.x.y", "0", "v1")
			w.define("bs", "2", "B", established...)
			w.remove(w.served.factory.definition, "bs.x.y")
		}, ofThirdParty, true},
		{"nothing is kept without both", func(w *world) {
			w.put("b.x.y", "0", "v1")
			w.define("bs", "2", "B", established...)
			w.drop("b.x.y")
			w.remove(w.served.factory.definition, "bs.x.y")
		}, "", false},
		{"of two of the plural it takes over from one", func(w *world) {
			w.put("b.x.y", "0", "v1")
			w.put("-b.x.y", "3", "v1")
			w.define("bs", "2", "B", established...)
			w.drop("b.x.y")
		}, ofDefinition, true},
		{"made again before the definition was created, it leaves nothing", func(w *world) {
			w.put("b.x.y", "4", "v1")
			w.define("bs", "2", "B", inheriting()...)
		}, "4:x.y/v1/bs", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			tc.make(w)
			const resource = "x.y/bs/0"
			w.instance(resource, "a")
			set := w.set(&Set{})
			if got := routes(set); got != tc.routes {
				t.Errorf("served %q, want %q", got, tc.routes)
			}
			orphans := slices.Collect(orphaned(w.tree.Publish(), w.served.factory.prefixes, set.inherited()))
			if kept := !slices.Contains(orphans, resource); kept != tc.kept {
				t.Errorf("the instances are kept: %v", kept)
			}
			if strings.Contains(tc.routes, ofDefinition) {
				if got := set.owner("2").resource; got != resource || set.ownerOf(resource) != set.owner("2") {
					t.Errorf("stored as %s", got)
				}
			}
		})
	}
}

// TestTakeoverIsNoticed checks that a node that still serves a ThirdPartyResource notices in each
// state that a definition has taken over.
func TestTakeoverIsNoticed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("b.x.y", "0", "v1")
	before := w.set(&Set{})
	w.define("bs", "2", "B", inheriting()...)
	w.served.current.Store(w.set(before)) // this node has caught up
	store := w.served.Instances(&pinned{root: w.tree.Publish()}, before.owner("0"))
	if _, err := store.Pin(t.Context()); !isStale(err) {
		t.Errorf("the former owner: %v", err)
	}
	w.remove(w.served.factory.definition, "bs.x.y")
	w.define("bs", "3", "C") // not served: the ThirdPartyResource has the plural
	w.served.current.Store(w.set(before))
	store = w.served.Instances(&pinned{root: w.tree.Publish()}, before.owner("0"))
	if _, err := store.Pin(t.Context()); err != nil {
		t.Errorf("a definition that is not served: %v", err)
	}
}

// viewing is a store that returns the state of a world.
type viewing struct {
	Store
	w *world
}

func (v *viewing) View(context.Context, raftstore.Read) (*state.Root, error) {
	return v.w.tree.Publish(), nil
}

// creating is a store in which meanwhile happens before the first create.
type creating struct {
	rest.Store
	w         *world
	meanwhile func()
	created   *state.Object
}

func (c *creating) Create(_ context.Context, create raftstore.Create) (*state.Object, error) {
	if c.meanwhile != nil {
		c.meanwhile()
		c.meanwhile = nil
	}
	if create.Guard != "" && c.w.tree.Get(create.Guard) == nil {
		return nil, &state.GuardFailed{Guard: create.Guard}
	}
	c.created = create.Object
	return create.Object, nil
}

// TestTakeoverNeedsItsPredecessor checks that a definition takes over instances only if their
// ThirdPartyResource exists when the definition is stored, and starts without any if not.
func TestTakeoverNeedsItsPredecessor(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		meanwhile func(w *world)
		inherits  string
	}{
		"exists":  {nil, "0"},
		"changed": {func(w *world) { w.put("b.x.y", "0", "v2") }, "0"},
		"deleted": {func(w *world) { w.drop("b.x.y") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put("b.x.y", "0", "v1")
			w.define("bs", "2", "B")
			k := w.served.factory.definition
			key := stored.Key(k, "", "bs.x.y")
			object := w.tree.Get(key)
			w.remove(k, "bs.x.y")
			store := &creating{w: w}
			if tc.meanwhile != nil {
				store.meanwhile = func() { tc.meanwhile(w) }
			}
			w.served.store = &viewing{w: w}
			admitting := &admitting{store, w.served, w.served.admitDefinition}
			if _, err := admitting.Create(t.Context(), raftstore.Create{Key: key, Object: object}); err != nil {
				t.Fatal(err)
			}
			if got := inherits(t, k, store.created); got != tc.inherits {
				t.Errorf("takes over from %q, want %q", got, tc.inherits)
			}
		})
	}
}

func inherits(t *testing.T, k *schema.Kind, o *state.Object) string {
	t.Helper()
	decoded, err := k.DecodeStored(o.Value)
	if err != nil {
		t.Fatal(err)
	}
	return validation.InstancesOf(decoded)
}
