package rbac

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/rest"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// written is a world that the reconciler writes to.
type written struct {
	*world
	writes int
	race   func() // called once, before the next write
}

func (w *written) Create(_ context.Context, c raftstore.Create) (*state.Object, error) {
	return w.write(c.Key, c.Object, func(have *state.Object) error {
		if have != nil {
			return &state.Exists{Key: c.Key}
		}
		return nil
	})
}

func (w *written) Update(_ context.Context, u raftstore.Update) (*state.Object, error) {
	return w.write(u.Key, u.Object, func(have *state.Object) error {
		if have == nil || have.Version != u.Previous.Version {
			return &state.Conflict{Key: u.Key}
		}
		return nil
	})
}

func (w *written) write(key state.Key, o *state.Object, check func(have *state.Object) error) (*state.Object, error) {
	if race := w.race; race != nil {
		w.race = nil
		race()
	}
	if err := check(w.root.Get(key)); err != nil {
		return nil, err
	}
	w.writes++
	k := w.kind(key)
	decoded, err := k.DecodeStored(state.Splice(o.Value, o.VersionOffset, 1))
	if err != nil {
		return nil, err
	}
	w.store(decoded)
	return w.root.Get(key), nil
}

func (w *written) kind(key state.Key) *schema.Kind {
	return kindOf(w.t, strings.TrimPrefix(key.Resource(), group+"/"))
}

// reconciled returns the world after a node has begun to lead. before prepares the state.
func reconciled(t *testing.T, before func(w *written)) *written {
	t.Helper()
	w := &written{world: newWorld(t)}
	before(w)
	w.writes = 0
	w.lead()
	return w
}

// lead runs the reconciler as a node does when it begins to lead.
func (w *written) lead() {
	w.t.Helper()
	e, _ := w.evaluator()
	e.store = w
	if err := e.reconcile(context.Background()); err != nil {
		w.t.Fatalf("%v", err)
	}
}

func (w *written) role(name string) *schema.Object { return w.object("clusterroles", name) }

func (w *written) object(plural, name string) *schema.Object {
	w.t.Helper()
	k := kindOf(w.t, plural)
	o := w.root.Get(stored.Key(k, "", name))
	if o == nil {
		w.t.Fatalf("no %s %s", plural, name)
	}
	decoded, err := k.DecodeStored(o.Value)
	if err != nil {
		w.t.Fatalf("%v", err)
	}
	return decoded
}

func TestReconcile(t *testing.T) {
	t.Parallel()
	const readPods = `"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]`
	t.Run("makes what is not there, once J36", func(t *testing.T) {
		t.Parallel()
		w := reconciled(t, func(*written) {})
		c, err := catalog()
		if err != nil {
			t.Fatal(err)
		}
		if made := len(builtinRoles(c)) + len(builtinBindings()); w.writes != made {
			t.Errorf("%d writes for %d objects", w.writes, made)
		}
		w.writes = 0
		w.lead()
		if w.writes > 0 {
			t.Errorf("%d writes for nothing", w.writes)
		}
	})
	t.Run("adds what was lost, and leaves what was given J35", func(t *testing.T) {
		t.Parallel()
		w := reconciled(t, func(w *written) { w.put("clusterroles", "", "view", readPods) })
		rules := readRules(w.role("view"))
		c, err := catalog()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(rules[0].resources, []string{"pods"}) || len(rules[0].verbs) != 1 {
			t.Errorf("what was there has changed: %+v", rules[0])
		}
		if lost, _ := missing(rules, inNamespaces(c, false, keepsNoSecrets)); len(lost) > 0 {
			t.Errorf("not added: %s", describe(lost))
		}
		if w.role("view").Labels().Get(bootstrapLabel).Str() != bootstrapValue {
			t.Error("no label")
		}
	})
	t.Run("adds only what was lost J35", func(t *testing.T) {
		t.Parallel()
		w := reconciled(t, func(*written) {})
		o := w.role("view")
		whole := readRules(o)
		resources := o.Field("rules").At(0).Field("resources")
		lost := resources.At(0).Str()
		resources.RemoveAt(0)
		w.store(o)
		w.lead()
		rules := readRules(w.role("view"))
		if len(rules) != len(whole)+1 || !slices.Equal(rules[len(whole)].resources, []string{lost}) {
			t.Errorf("%+v", rules)
		}
	})
	t.Run("leaves alone what says so J35", func(t *testing.T) {
		t.Parallel()
		w := reconciled(t, func(w *written) {
			o := object(w.t, "clusterroles", "", "edit", readPods)
			o.Metadata().Make("annotations").Put(autoupdate).SetStr("false")
			w.store(o)
		})
		if rules := readRules(w.role("edit")); len(rules) != 1 {
			t.Errorf("%+v", rules)
		}
	})
	t.Run("adds the subject that was lost J35", func(t *testing.T) {
		t.Parallel()
		w := reconciled(t, func(w *written) {
			w.put("clusterrolebindings", "", "cluster-admin", `"roleRef":{"kind":"ClusterRole","name":"cluster-admin"},"subjects":[{"kind":"User","name":"root"}]`)
		})
		b := readBinding(w.object("clusterrolebindings", "cluster-admin"))
		if !slices.Equal(b.subjects, []subject{{name: "root"}, {group: true, name: auth.MastersGroup}}) {
			t.Errorf("%+v", b.subjects)
		}
	})
	t.Run("gives nobody a role of one's own J35", func(t *testing.T) {
		t.Parallel()
		w := reconciled(t, func(w *written) {
			w.put("clusterrolebindings", "", "system:discovery", `"roleRef":{"kind":"ClusterRole","name":"cluster-admin"},"subjects":[{"kind":"User","name":"root"}]`)
		})
		if b := readBinding(w.object("clusterrolebindings", "system:discovery")); len(b.subjects) != 1 || b.role.name != "cluster-admin" {
			t.Errorf("%+v", b)
		}
	})
	t.Run("goes on where others write J36", func(t *testing.T) {
		t.Parallel()
		w := &written{world: newWorld(t)}
		w.race = func() { w.put("clusterroles", "", "cluster-admin", readPods) }
		w.lead()
		if rules := readRules(w.role("cluster-admin")); len(rules) != 3 {
			t.Errorf("%+v", rules)
		}
	})
	t.Run("tells of errors", func(t *testing.T) {
		t.Parallel()
		e, _ := newWorld(t).evaluator()
		broken := errors.New("broken")
		e.store = &failing{Store: e.store, err: broken}
		if err := e.reconcile(t.Context()); !errors.Is(err, broken) {
			t.Errorf("%v", err)
		}
	})
}

type failing struct {
	Store
	err error
}

func (f *failing) Create(context.Context, raftstore.Create) (*state.Object, error) { return nil, f.err }

// TestBuiltinRoles_J33 checks that the roles for namespaces cover all namespaced kinds of the
// catalog and nothing else.
func TestBuiltinRoles_J33(t *testing.T) {
	t.Parallel()
	c, err := catalog()
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string][]rule{}
	for _, role := range builtinRoles(c) {
		byName[role.name] = role.rules
	}
	allows := func(role, verb string, k *schema.Kind, sub string) bool {
		a := &auth.Attributes{Verb: verb, Group: k.Group, Resource: k.Plural, Subresource: sub, Namespace: "n", Name: "x"}
		return slices.ContainsFunc(byName[role], func(r rule) bool { return r.allows(a) })
	}
	for _, k := range c.Kinds() {
		grants := strings.HasPrefix(k.Group, "rbac.authorization.")
		for role, may := range map[string]struct{ read, write bool }{
			"cluster-admin": {true, true},
			"admin":         {k.Namespaced, k.Namespaced},
			"edit":          {k.Namespaced && !grants, k.Namespaced && !grants},
			"view":          {k.Namespaced && !grants && k.Plural != "secrets", false},
		} {
			if k.Plural == "namespaces" {
				may.read = true // the requester's own reviews
			}
			for _, verb := range rest.Verbs(k) {
				want := may.write
				if verb == "get" || verb == "list" || verb == "watch" {
					want = may.read
				}
				if got := allows(role, verb, k, ""); got != want {
					t.Errorf("%s: %s %s: %v", role, verb, k.QualifiedPlural(), got)
				}
			}
			for _, sub := range rest.Subresources(k) {
				for _, verb := range sub.Verbs {
					want := may.write && (sub.Name != "status" || role == "cluster-admin")
					if verb == "get" {
						want = may.read
					}
					if got := allows(role, verb, k, sub.Name); got != want {
						t.Errorf("%s: %s %s/%s: %v", role, verb, k.QualifiedPlural(), sub.Name, got)
					}
				}
			}
		}
	}
}
