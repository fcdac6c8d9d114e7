package selector_test

import (
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	"quorate/apiserver/objects/selector"
	"quorate/raftstore/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func pods() *selector.Fields {
	return &selector.Fields{
		Supported: map[string]bool{"metadata.name": true, "metadata.namespace": true, "spec.nodeName": true, "status.phase": true},
		Accepted:  map[string]bool{"status.hostIP": true},
		Aliases:   map[string]string{"spec.host": "spec.nodeName"},
	}
}

func object(ns, name string, labels, fields map[string]string) *state.Object {
	return &state.Object{
		Key:    state.NewKey("pods", ns, name),
		Labels: state.NewAttributes(labels),
		Fields: state.NewAttributes(fields),
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	o := object("ns", "p", map[string]string{"app": "web", "tier": "5", "empty": ""},
		map[string]string{"spec.nodeName": "n1", "status.phase": "Running"})
	for _, tc := range []struct {
		row, labels, fields string
		want                bool
	}{
		{"C5 equals", "app=web", "", true},
		{"C5 double equals", "app==web", "", true},
		{"C5 not equals", "app!=web", "", false},
		{"C5 exists", "app", "", true},
		{"C5 missing", "!app", "", false},
		{"C5 in", "app in (db, web)", "", true},
		{"C5 notin", "app notin (db,web)", "", false},
		{"C5 greater", "tier>4", "", true},
		{"C5 less", "tier<4", "", false},
		{"C5 not greater than itself", "tier>5", "", false},
		{"C5 not less than itself", "tier<5", "", false},
		{"C5 conjunction", "app=web,tier>4,!nope", "", true},
		{"C6 not equals matches missing", "nope!=x", "", true},
		{"C6 notin matches missing", "nope notin (x)", "", true},
		{"C6 empty value", "empty=", "", true},
		{"C6 empty in a set", "empty in (,a)", "", true},
		{"C6 non-integer never greater", "app>1", "", false},
		{"C6 missing never less", "nope<9", "", false},
		{"C9 equals", "", "spec.nodeName=n1", true},
		{"C9 not equals", "", "status.phase!=Succeeded,status.phase!=Failed", true},
		{"C12 name", "", "metadata.name=p", true},
		{"C12 namespace", "", "metadata.namespace=other", false},
		{"C13 alias", "", "spec.host=n1", true},
		{"C13 accepted compares as empty", "", "status.hostIP=10.0.0.1", false},
		{"C19 missing field is empty", "", "status.hostIP=", true},
		{"both kinds are one conjunction", "app=web", "metadata.name=q", false},
	} {
		t.Run(tc.row, func(t *testing.T) {
			t.Parallel()
			s, err := selector.Parse(tc.labels, tc.fields, pods())
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Matches(o); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ row, labels, fields, want string }{
		{"C7", "a=b=c", "", "unable to parse requirement"},
		{"C6 empty set", "k in ()", "", "values"},
		{"C8", "a=-b-", "", "Invalid value"},
		{"C10", "", "spec.nope=x", "field label not supported: spec.nope"},
		{"C11", "", "abc", "invalid selector: 'abc'; can't understand 'abc'"},
		{"bounded", strings.Repeat("a", 70<<10), "", "longer than"},
	} {
		t.Run(tc.row, func(t *testing.T) {
			t.Parallel()
			_, err := selector.Parse(tc.labels, tc.fields, pods())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestNamed(t *testing.T) {
	t.Parallel()
	s, err := selector.Parse("", "metadata.name=a", pods())
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := selector.Named(s, "b"); ok {
		t.Error("D32: a contradiction was not noticed")
	}
	named, ok := selector.Named(nil, "a")
	if name, fixed := named.Name(); !ok || !fixed || name != "a" {
		t.Errorf("got name %q, %v", name, fixed)
	}
}

// TestNameRequiresEquality checks that Name returns a name only if the selector compares
// metadata.name for equality.
func TestNameRequiresEquality(t *testing.T) {
	t.Parallel()
	for fields, want := range map[string][2]string{
		"metadata.name=p,metadata.namespace=ns":   {"p", "ns"},
		"metadata.name!=p,metadata.namespace!=ns": {},
		"metadata.name!=q,metadata.name=p":        {"p"},
		"spec.nodeName=n1":                        {},
	} {
		s, err := selector.Parse("", fields, pods())
		if err != nil {
			t.Fatal(err)
		}
		name, named := s.Name()
		namespace, spaced := s.Namespace()
		if name != want[0] || named != (want[0] != "") || namespace != want[1] || spaced != (want[1] != "") {
			t.Errorf("%s fixes name %q (%v) and namespace %q (%v), want %q", fields, name, named, namespace, spaced, want)
		}
	}
}

func TestAgainstReference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SampledFrom([]string{"a", "b", "x.io/c"})
		value := rapid.SampledFrom([]string{"", "1", "2", "v"})
		term := rapid.Custom(func(t *rapid.T) string {
			k, v := key.Draw(t, "key"), value.Draw(t, "value")
			forms := []string{k, "!" + k, k + "=" + v, k + "!=" + v,
				fmt.Sprintf("%s in (%s,2)", k, v), fmt.Sprintf("%s notin (%s,2)", k, v), k + ">1", k + "<2"}
			return rapid.SampledFrom(forms).Draw(t, "form")
		})
		text := strings.Join(rapid.SliceOfN(term, 1, 3).Draw(t, "terms"), ",")
		set := rapid.MapOf(key, value).Draw(t, "labels")
		reference, err := labels.Parse(text)
		if err != nil {
			t.Skip("not a selector")
		}
		s, err := selector.Parse(text, "", pods())
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if got, want := s.Matches(object("ns", "p", set, nil)), reference.Matches(labels.Set(set)); got != want {
			t.Fatalf("%q on %v: got %v, want %v", text, set, got, want)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("a in (b,c),!d", "metadata.name=x")
	o := object("ns", "p", map[string]string{"a": "b"}, nil)
	f.Fuzz(func(_ *testing.T, l, fields string) {
		if s, err := selector.Parse(l, fields, pods()); err == nil {
			s.Matches(o)
		}
	})
}

func TestMatchesAllocatesNothing(t *testing.T) {
	s, err := selector.Parse("app in (a,web),grp=g1", "status.phase!=Failed,metadata.namespace=ns", pods())
	if err != nil {
		t.Fatal(err)
	}
	o := object("ns", "p", map[string]string{"app": "web", "grp": "g1"}, map[string]string{"status.phase": "Running"})
	if !s.Matches(o) {
		t.Fatal("no match")
	}
	if n := testing.AllocsPerRun(100, func() { s.Matches(o) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkMatches(b *testing.B) {
	s, err := selector.Parse("grp=g1", "", pods())
	if err != nil {
		b.Fatal(err)
	}
	o := object("ns", "p", map[string]string{"app": "loadgen", "grp": "g2"}, nil)
	b.ReportAllocs()
	for b.Loop() {
		s.Matches(o)
	}
}

func TestHidden(t *testing.T) {
	t.Parallel()
	labels, fields := map[string]string{"app": "web"}, map[string]string{"status.phase": "Running"}
	shown := object("ns", "p", labels, fields)
	hidden := object("ns", "p", labels, fields)
	hidden.Fields = selector.Hide(hidden.Fields)
	bare := object("ns", "p", nil, nil)
	bare.Fields = selector.Hide("")
	for _, tc := range []struct {
		row, labels, fields         string
		shown, hidden, hiddenIsSeen bool
	}{
		{"C44 everything", "", "", true, false, true},
		{"C44 by label", "app=web", "", true, false, true},
		{"C44 by another label", "app=db", "", false, false, false},
		{"C44 by field", "", "status.phase=Running", true, false, true},
		{"C44 by another field", "", "status.phase=Failed", false, false, false},
		{"C44 by name", "", "metadata.name=p", true, false, true},
	} {
		t.Run(tc.row, func(t *testing.T) {
			t.Parallel()
			s, err := selector.Parse(tc.labels, tc.fields, pods())
			if err != nil {
				t.Fatal(err)
			}
			all := selector.WithHidden(s)
			if s.Matches(shown) != tc.shown || all.Matches(shown) != tc.shown {
				t.Errorf("shown: %v, %v", s.Matches(shown), all.Matches(shown))
			}
			if s.Matches(hidden) != tc.hidden || all.Matches(hidden) != tc.hiddenIsSeen {
				t.Errorf("hidden: %v, %v", s.Matches(hidden), all.Matches(hidden))
			}
			if s.Matches(bare) {
				t.Error("a hidden object without fields matches")
			}
		})
	}
	named, ok := selector.Named(selector.WithHidden(nil), "p")
	if !ok || !named.Matches(hidden) {
		t.Error("D32: a name forgets that hidden objects are asked for")
	}
}

// BenchmarkWalk selects 1 % of 10,000 objects by a label. The objects have a hundred different sets
// of labels (design.md §6).
func BenchmarkWalk(b *testing.B) {
	s, err := selector.Parse("grp=g1", "", pods())
	if err != nil {
		b.Fatal(err)
	}
	tree := state.NewTree()
	for i := range 10_000 {
		tree.Advance(uint64(i + 1))
		o := object("ns", fmt.Sprintf("p%06d", i), nil, nil)
		o.Labels = tree.Intern([]byte(state.NewAttributes(map[string]string{"app": "loadgen", "grp": fmt.Sprint("g", i%100)})))
		o.Value = make([]byte, 1024)
		tree.Set(o)
	}
	root := tree.Publish()
	b.ReportAllocs()
	for b.Loop() {
		found := 0
		root.Ascend(state.ResourcePrefix("pods"), "", func(o *state.Object) bool {
			if s.Matches(o) {
				found++
			}
			return true
		})
		if found != 100 {
			b.Fatalf("%d found", found)
		}
	}
}
