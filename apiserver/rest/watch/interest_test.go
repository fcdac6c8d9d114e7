package watch

import (
	"testing"

	"quorate/apiserver/objects/selector"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// A stream of a namespace, whatever else its selector requires, has an interest in that namespace
// only: many namespaces use the same labels, names and fields.
func TestInterestIsInTheNamespace(t *testing.T) {
	t.Parallel()
	hub, err := history.New(history.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer hub.Close()
	fields := &selector.Fields{Supported: map[string]bool{"metadata.name": true, "metadata.namespace": true, "spec.nodeName": true}}
	a, all := state.NamespacePrefix("pods", "a"), state.ResourcePrefix("pods")
	for name, tc := range map[string]struct {
		prefix         state.Prefix
		labels, fields string
		want           history.Interest
	}{
		"everything":          {all, "", "", history.Everything()},
		"namespace":           {a, "", "", history.Everything().In("a")},
		"field of namespace":  {all, "", "metadata.namespace=a", history.Everything().In("a")},
		"label":               {all, "app=web", "", history.WithLabel("app", "web")},
		"label in namespace":  {a, "app=web", "", history.WithLabel("app", "web").In("a")},
		"no label value":      {a, "app!=web", "", history.Everything().In("a")},
		"name in namespace":   {a, "", "metadata.name=x", history.Named("x").In("a")},
		"field in namespace":  {a, "", "spec.nodeName=n", history.WithField("spec.nodeName", "n").In("a")},
		"name by two selects": {all, "", "metadata.name=x,metadata.namespace=a", history.Named("x").In("a")},
	} {
		sel, err := selector.Parse(tc.labels, tc.fields, fields)
		if err != nil {
			t.Fatal(err)
		}
		st := &Stream{opts: settings{Projection: Projection{Selector: sel}}}
		st.following.changes = *hub.Watch(tc.prefix, 0)
		if got := interestOf(st); got != tc.want {
			t.Errorf("%s: got %+v, want %+v", name, got, tc.want)
		}
	}
}
