package watch

import (
	"testing"

	"quorate/apiserver/objects/selector"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// TestDeletionUnderSelectors: a selector matches a deletion against the removed object, or, if that
// is unknown, against the fields in its key (D19, D20).
func TestDeletionUnderSelectors(t *testing.T) {
	t.Parallel()
	object := func(label, value string) *state.Object {
		return &state.Object{
			Key: state.NewKey("pods", "a", "n"), Labels: state.NewAttributes(map[string]string{"l": label}), Value: []byte(value), Version: 1,
		}
	}
	final := object("y", "2final")
	known := &history.Event{Index: 2, Type: history.Deleted, Object: final, Previous: object("x", "1removed")}
	unknown := &history.Event{Index: 2, Type: history.Deleted, Object: final, PreviousUnknown: true}
	kept := &history.Event{Index: 2, Type: history.Deleted, Object: final}
	for _, tc := range []struct {
		labels, fields              string
		whenKnown, whenKept, unsure string
	}{
		{"", "", "2final", "2final", "2final"},
		{"l=x", "", "2removed", "", "2final"},
		{"l=y", "", "", "2final", "2final"},
		{"l in (x,y)", "", "2final", "2final", "2final"},
		{"l=z", "", "", "", "2final"},
		{"l=x", "metadata.name=other", "", "", ""},
		{"", "metadata.name=n", "2final", "2final", "2final"},
		{"", "metadata.namespace=b", "", "", ""},
	} {
		fields := &selector.Fields{Supported: map[string]bool{"metadata.name": true, "metadata.namespace": true}}
		sel, err := selector.Parse(tc.labels, tc.fields, fields)
		if err != nil {
			t.Fatal(err)
		}
		p := Projection{Selector: sel}
		for want, e := range map[*string]*history.Event{&tc.whenKnown: known, &tc.whenKept: kept, &tc.unsure: unknown} {
			if head, got := p.project(e); string(got) != *want || (head == deleted) != (*want != "") {
				t.Errorf("%q %q: %s%s, want %q", tc.labels, tc.fields, head, got, *want)
			}
		}
	}
}
