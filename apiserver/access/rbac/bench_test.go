package rbac

import (
	"context"
	"fmt"
	"testing"

	"quorate/apiserver/access/auth"
)

// many returns a state with a number of bindings to ten roles, half of them cluster-wide and half
// in namespaces. Each binding has its own user.
func many(tb testing.TB, bindings int) *world {
	tb.Helper()
	w := newWorld(tb)
	for i := range 10 {
		w.put("clusterroles", "", fmt.Sprint("r", i), rulesJSON(tb, ruleOf("get,list,watch core pods,configmaps,endpoints,events"), ruleOf("get,list apps statefulsets")))
	}
	for i := range bindings {
		members := fmt.Sprintf(`"roleRef":{"kind":"ClusterRole","name":"r%d"},"subjects":[{"kind":"User","name":"u%d"}]`, i%10, i)
		if i%2 == 0 {
			w.put("clusterrolebindings", "", fmt.Sprint("b", i), members)
		} else {
			w.put("rolebindings", fmt.Sprint("n", i%100), fmt.Sprint("b", i), members)
		}
	}
	return w
}

// decisions are the requests that the benchmarks measure.
func decisions() map[string]struct {
	user *auth.User
	ask  *auth.Attributes
	want bool
} {
	groups := []string{"devs", "team", auth.AuthenticatedGroup}
	ask := &auth.Attributes{Verb: "list", Group: "apps", Version: "v1", Resource: "statefulsets", Namespace: "n7"}
	return map[string]struct {
		user *auth.User
		ask  *auth.Attributes
		want bool
	}{
		"master":          {&auth.User{Name: "admin", Groups: []string{auth.MastersGroup, auth.AuthenticatedGroup}}, ask, true},
		"of the cluster":  {&auth.User{Name: "u8", Groups: groups}, ask, true},
		"of a namespace":  {&auth.User{Name: "u7", Groups: groups}, ask, true},
		"refused":         {&auth.User{Name: "nobody", Groups: groups}, ask, false},
		"refused a path":  {&auth.User{Name: "u8", Groups: groups}, &auth.Attributes{Verb: "get", Path: "/metrics"}, false},
		"refused by name": {&auth.User{Name: "u9", Groups: groups}, ask, false},
	}
}

// TestAllowsAllocates checks that a decision allocates nothing, because every request takes one.
func TestAllowsAllocates(t *testing.T) {
	e := many(t, 100).known()
	for name, tc := range decisions() {
		if got := e.Allows(tc.user, tc.ask); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
		if n := testing.AllocsPerRun(100, func() { e.Allows(tc.user, tc.ask) }); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkAllows(b *testing.B) {
	e := many(b, 10_000).known()
	for name, tc := range decisions() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				e.Allows(tc.user, tc.ask)
			}
		})
	}
}

// BenchmarkFollow measures adding one binding to an index that has many.
func BenchmarkFollow(b *testing.B) {
	for _, bindings := range []int{100, 10_000} {
		b.Run(fmt.Sprint(bindings), func(b *testing.B) {
			w := many(b, bindings)
			_, f := w.evaluator()
			if err := f.advance(context.Background(), w.root); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				w.put("rolebindings", "n1", "one", `"roleRef":{"kind":"ClusterRole","name":"r1"},"subjects":[{"kind":"User","name":"u1"}]`)
				b.StartTimer()
				if err := f.advance(context.Background(), w.root); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLoad measures building the first index.
func BenchmarkLoad(b *testing.B) {
	w := many(b, 10_000)
	for b.Loop() {
		w.known()
	}
}
