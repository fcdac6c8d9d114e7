package custom

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/objects/validation"
	"quorate/raftstore/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDefine(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]schema.Definition{ // K1, K4
		"cron-tab.stable.example.com": {Kind: "CronTab", Group: "stable.example.com", Plural: "crontabs", Singular: "crontab"},
		"policy.example.com":          {Kind: "Policy", Group: "example.com", Plural: "policies", Singular: "policy"},
		"class.example.com":           {Kind: "Class", Group: "example.com", Plural: "classes", Singular: "class"},
		"box.a.b.c":                   {Kind: "Box", Group: "a.b.c", Plural: "boxs", Singular: "box"},
		"a-2-c.example.com":           {Kind: "A2C", Group: "example.com", Plural: "a2cs", Singular: "a2c"},
		"3d--print.example.com":       {Kind: "3dPrint", Group: "example.com", Plural: "3dprints", Singular: "3dprint"},
		"y.example.com":               {Kind: "Y", Group: "example.com", Plural: "ies", Singular: "y"},
	} {
		if got := Define(name); got.Kind != want.Kind || got.Group != want.Group || got.Plural != want.Plural || got.Singular != want.Singular {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// catalog contains the kinds that have files, compiled once.
var catalog = sync.OnceValues(func() (*schema.Catalog, error) { return schema.Load(kinds.Files, validation.Hooks()) })

// world is a state that tests modify.
type world struct {
	t       *testing.T
	tree    *state.Tree
	served  *Served
	version uint64
}

func newWorld(t *testing.T) *world {
	t.Helper()
	catalog, err := catalog()
	if err != nil {
		t.Fatal(err)
	}
	served, err := New(Config{Catalog: catalog, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, tree: state.NewTree(), served: served}
}

// put stores a ThirdPartyResource. A new uid means that it is created again.
func (w *world) put(name, uid string, versions ...string) {
	w.t.Helper()
	k := w.served.factory.kind
	list := make([]string, len(versions))
	for i, v := range versions {
		list[i] = `{"name":"` + v + `"}`
	}
	w.store(k, name, fmt.Sprintf(`{"metadata":{"name":%q,"uid":%q},"versions":[%s]}`, name, uid, strings.Join(list, ",")))
}

func (w *world) drop(name string) { w.remove(w.served.factory.kind, name) }

func (w *world) remove(k *schema.Kind, name string) {
	w.version++
	w.tree.Advance(w.version)
	w.tree.Delete(stored.Key(k, "", name))
}

func (w *world) instance(resource, name string) {
	w.version++
	w.tree.Advance(w.version)
	w.tree.Set(&state.Object{Key: state.NewKey(resource, "default", name), Version: w.version, Value: []byte("{}")})
}

func (w *world) set(before *Set) *Set {
	w.t.Helper()
	set, err := w.served.factory.make(w.tree.Publish(), before)
	if err != nil {
		w.t.Fatal(err)
	}
	return set
}

// routes returns the paths that a set serves.
func routes(set *Set) string {
	var all []string
	for _, o := range set.Owners {
		for _, k := range o.Kinds {
			all = append(all, o.uid+":"+k.APIVersion+"/"+k.Plural)
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestSet(t *testing.T) {
	t.Parallel()
	nothing := &Set{}
	for _, tc := range []struct {
		row  string
		make func(w *world)
		want string
	}{
		{"a kind for each version K5 K10", func(w *world) { w.put("cron-tab.x.y", "1", "v1", "v2") }, "1:x.y/v1/crontabs 1:x.y/v2/crontabs"},
		{"no versions, nothing served K3", func(w *world) { w.put("cron-tab.x.y", "1") }, ""},
		{"of one plural the older is served K11", func(w *world) { w.put("crontab.x.y", "1", "v1"); w.put("cron-tab.x.y", "2", "v1") },
			"1:x.y/v1/crontabs"},
		{"also after it was changed K11", func(w *world) {
			w.put("crontab.x.y", "1", "v1")
			w.put("cron-tab.x.y", "2", "v1")
			w.put("crontab.x.y", "1", "v2")
		}, "1:x.y/v2/crontabs"},
		{"the younger when the older is gone K11", func(w *world) {
			w.put("crontab.x.y", "1", "v1")
			w.put("cron-tab.x.y", "2", "v1")
			w.drop("crontab.x.y")
		}, "2:x.y/v1/crontabs"},
		{"other groups are other kinds", func(w *world) { w.put("crontab.x.y", "1", "v1"); w.put("cron-tab.x.z", "2", "v1") },
			"1:x.y/v1/crontabs 2:x.z/v1/crontabs"},
		{"groups of the files stay theirs K11", func(w *world) { w.put("pod.image.platform.io", "1", "v1") }, ""},
		{"deleted and made again K13", func(w *world) {
			w.put("crontab.x.y", "1", "v1")
			w.drop("crontab.x.y")
			w.put("crontab.x.y", "2", "v1")
		}, "2:x.y/v1/crontabs"},
	} {
		t.Run(tc.row, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			tc.make(w)
			set := w.set(nothing)
			if got := routes(set); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			root := w.tree.Publish()
			if !set.covers(root, w.served.factory.prefixes) || nothing.covers(root, w.served.factory.prefixes) != (len(set.known) == 0) {
				t.Error("what the set covers is wrong")
			}
		})
	}
}

// TestSetReusesUnchangedParts checks that unchanged parts of the previous set are reused, so that
// their routes, documents and watches continue.
func TestSetReusesUnchangedParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("a.x.y", "1", "v1")
	w.put("b.x.y", "2", "v1", "v2")
	first := w.set(&Set{})
	w.put("b.x.y", "2", "v2", "v3")
	second := w.set(first)
	if first.Owners[0] != second.Owners[0] {
		t.Error("an owner that has not changed was made anew")
	}
	if first.owner("2").end("v2") != second.owner("2").end("v2") || first.owner("2").end("v1") == second.owner("2").end("v3") {
		t.Error("a version that stays has another end, or a new one an old")
	}
	if first.covers(w.tree.Publish(), w.served.factory.prefixes) {
		t.Error("the former set covers the new state")
	}
	if o := first.owner("2"); o.holdsIn(w.tree.Publish()) || !o.standsIn(w.tree.Publish()) {
		t.Error("an owner that was changed is taken for unchanged, or for gone")
	}
	w.drop("b.x.y")
	w.put("b.x.y", "3", "v2")
	if first.owner("2").standsIn(w.tree.Publish()) {
		t.Error("one made again is taken for the former one")
	}
}

func TestServedSetIsLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range maxServed + 3 {
		w.put(fmt.Sprintf("k%d.x.y", i), fmt.Sprint(i), "v1")
	}
	if set := w.set(&Set{}); len(set.Owners) != maxServed || set.unserved != 3 {
		t.Errorf("%d served, %d not", len(set.Owners), set.unserved)
	}
}

func TestOrphaned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("crontab.x.y", "1", "v1")
	for _, resource := range []string{"x.y/crontabs/1", "x.y/crontabs/2", "x.y/crontabs/20", "z.y/a/3", "apps/daemonsets", "pods", "configmaps"} {
		w.instance(resource, "a")
		w.instance(resource, "b")
	}
	root := w.tree.Publish()
	if got := slices.Collect(orphaned(root, w.served.factory.prefixes, map[string]bool{"20": true})); !slices.Equal(got, []string{"x.y/crontabs/2", "z.y/a/3"}) {
		t.Errorf("orphaned: %q", got)
	}
	want := []string{"apps/daemonsets", "configmaps", "extensions/thirdpartyresources", "pods", "x.y/crontabs/1", "x.y/crontabs/2",
		"x.y/crontabs/20", "z.y/a/3"}
	if got := slices.Collect(resources(root)); !slices.Equal(got, want) {
		t.Errorf("resources: %q", got)
	}
}
