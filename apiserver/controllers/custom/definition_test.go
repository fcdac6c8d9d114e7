package custom

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/raftstore/state"
)

// define stores a CustomResourceDefinition of the group x.y. spec replaces texts of its body, in
// pairs.
func (w *world) define(plural, uid, kind string, pairs ...string) {
	w.t.Helper()
	k := w.served.factory.definition
	body := fmt.Sprintf(`{"metadata":{"name":"%[1]s.x.y","uid":%[2]q,"generation":1},"spec":{"group":"x.y","scope":"Namespaced",
		"names":{"plural":%[1]q,"singular":"%[1]s-one","kind":%[3]q,"listKind":"%[3]sList"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`, plural, uid, kind)
	w.store(k, plural+".x.y", strings.NewReplacer(pairs...).Replace(body))
}

// store stores an object of a cluster-scoped kind.
func (w *world) store(k *schema.Kind, name, body string) {
	w.t.Helper()
	o, err := k.DecodeStored([]byte(body))
	if err != nil {
		w.t.Fatal(err)
	}
	object, _ := stored.Encode(o)
	w.version++
	object.Key, object.Version, object.Created = stored.Key(k, "", name), w.version, w.version
	if before := w.tree.Get(object.Key); before != nil && before.UID == object.UID {
		object.Created = before.Created
	}
	object.Value = state.Splice(object.Value, object.VersionOffset, w.version)
	w.tree.Advance(w.version)
	w.tree.Set(object)
}

// verdicts describes what a set makes of its definitions: uid, the condition NamesAccepted, and
// whether the kinds are served.
func verdicts(set *Set) string {
	var all []string
	for _, d := range set.definitions {
		all = append(all, fmt.Sprintf("%s:%s:%v", d.uid, d.wanted()[0].reason, d.verdict.owner != nil))
	}
	return strings.Join(all, " ")
}

const (
	accepted    = `"status":{"acceptedNames":{"plural":"bs","singular":"bs-one","kind":"B","listKind":"BList"},"conditions":[{"type":"Established","status":"True"}]},"spec":{"group"`
	threeOfMany = 3
)

func TestDefinitions(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		row  string
		make func(w *world)
		want string
	}{
		{"alone", func(w *world) { w.define("as", "1", "A") }, "1:NoConflicts:true"},
		{"the older has the kind", func(w *world) { w.define("as", "1", "A"); w.define("bs", "2", "A") }, "1:NoConflicts:true 2:ListKindConflict:false"},
		{"the older has the short name", func(w *world) {
			w.define("as", "1", "A", `"kind":"A"`, `"kind":"A","shortNames":["s"]`)
			w.define("bs", "2", "B", `"kind":"B"`, `"kind":"B","shortNames":["s"]`)
		}, "1:NoConflicts:true 2:ShortNamesConflict:false"},
		{"a plural is a singular of another", func(w *world) { w.define("as", "1", "A", "as-one", "bs"); w.define("bs", "2", "B") },
			"1:NoConflicts:true 2:PluralConflict:false"},
		{"a name that is accepted stays with a younger one", func(w *world) {
			w.define("as", "1", "A")
			w.define("bs", "2", "B", `"spec":{"group"`, accepted)
			w.define("as", "1", "B")
		}, "1:ListKindConflict:false 2:NoConflicts:true"},
		{"established, it is served whatever it asks for", func(w *world) {
			w.define("as", "1", "A")
			w.define("bs", "2", "B", `"spec":{"group"`, accepted, `"singular":"bs-one"`, `"singular":"as"`)
		}, "1:NoConflicts:true 2:SingularConflict:true"},
		{"the younger when the older is gone", func(w *world) {
			w.define("as", "1", "A")
			w.define("bs", "2", "A")
			w.remove(w.served.factory.definition, "as.x.y")
		}, "2:NoConflicts:true"},
		{"an older ThirdPartyResource has the plural", func(w *world) { w.put("b.x.y", "0", "v1"); w.define("bs", "2", "B") },
			"2:ListKindConflict:false"},
		{"the certificates of its webhook are to be filled in", func(w *world) {
			w.define("as", "1", "A", `"scope"`, `"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://x.y","caBundle":"Cg=="}}},"scope"`)
		}, "1:NoConflicts:false"},
		{"a schema that does not compile", func(w *world) {
			w.define("as", "1", "A", `{"type":"object"}`, `{"type":"object","properties":{"a":{}}}`)
		},
			"1:NoConflicts:false"},
	} {
		t.Run(tc.row, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			tc.make(w)
			set := w.set(&Set{})
			if got := verdicts(set); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if !set.covers(w.tree.Publish(), w.served.factory.prefixes) {
				t.Error("the set does not cover its state")
			}
		})
	}
}

// TestStatusKeepsOwner checks that a write of the status alone leaves the kinds as they are, and
// that another generation does not.
func TestStatusKeepsOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.define("bs", "2", "B")
	first := w.set(&Set{})
	w.define("bs", "2", "B", `"spec":{"group"`, accepted)
	second := w.set(first)
	if first.owner("2") != second.owner("2") || !second.owner("2").holdsIn(w.tree.Publish()) {
		t.Error("a write of the status has made another owner")
	}
	if got := second.definition("2"); !slices.Contains(got.conditions, condition{kind: conditionEstablished, status: isTrue}) {
		t.Errorf("conditions %v", got.conditions)
	}
	w.define("bs", "2", "B", `"generation":1`, `"generation":2`)
	if third := w.set(second); third.owner("2") == second.owner("2") || third.owner("2").end("v1") != second.owner("2").end("v1") {
		t.Error("another generation has the same owner, or other ends")
	}
}

func TestDefinitionsAreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range maxDefinitions + threeOfMany {
		w.define(fmt.Sprintf("k%ds", i), fmt.Sprint(i), fmt.Sprintf("K%d", i))
	}
	set := w.set(&Set{})
	last := set.definitions[len(set.definitions)-1]
	if set.definitionsServed != maxDefinitions || last.verdict.refusal.reason != "LimitReached" {
		t.Errorf("%d served; the last: %+v", set.definitionsServed, last.verdict)
	}
}
