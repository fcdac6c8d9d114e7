package deletion_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/deletion"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/validation"
)

// TestDecide checks the action and the resulting finalizers, by policy and kind (G19–G28).
func TestDecide(t *testing.T) {
	t.Parallel()
	catalog, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_700_000_000, 0).UTC()
	const (
		going    = `"deletionTimestamp":"2023-11-14T22:13:00Z","deletionGracePeriodSeconds":0`
		inGrace  = `"deletionTimestamp":"2023-11-14T22:14:00Z","deletionGracePeriodSeconds":40`
		unset    = deletion.Unset
		removed  = "removed"
		nothing  = "nothing"
		maps     = "configmaps"
		networks = "network.platform.io/clusternetworks"
	)
	for _, tc := range []struct {
		row, resource, finalizers, more string
		policy                          deletion.Policy
		want                            string // the finalizers of the marked object, or the action
	}{
		{"G1", maps, "", "", unset, removed},
		{"G19", maps, "x.io/a", "", unset, "x.io/a"},
		{"G20", maps, "x.io/a", going, unset, nothing},
		{"G21", maps, "x.io/a", "", deletion.Orphan, "x.io/a orphan"},
		{"G21 has it", maps, "orphan x.io/a", "", deletion.Orphan, "orphan x.io/a"},
		{"G21 in place of the other", maps, "foregroundDeletion", "", deletion.Orphan, "orphan"},
		{"G22", maps, "", "", deletion.Foreground, "foregroundDeletion"},
		{"G23", maps, "orphan foregroundDeletion", "", deletion.Background, removed},
		{"G24 orphan decides", maps, "orphan", "", unset, "orphan"},
		{"G24 foreground decides", maps, "foregroundDeletion", "", unset, "foregroundDeletion"},
		{"G24 not collected", networks, "orphan", "", deletion.Orphan, removed},
		{"G28 finalizers pend", maps, "x.io/a", going, deletion.Orphan, nothing},
		{"G28 served by the collector alone", maps, "foregroundDeletion", going, deletion.Background, nothing},
		{"G28 grace pends", "pods", "", inGrace, deletion.Foreground, nothing},
		{"G41", "namespaces", "", "", deletion.Foreground, "refused"},
	} {
		t.Run(tc.row, func(t *testing.T) {
			t.Parallel()
			k := catalog.Stored(tc.resource)
			metadata := `"name":"default","finalizers":["` + strings.ReplaceAll(tc.finalizers, " ", `","`) + `"]`
			if tc.finalizers == "" {
				metadata = `"name":"default"`
			}
			if tc.more != "" {
				metadata += "," + tc.more
			}
			o, err := k.DecodeStored([]byte(fmt.Sprintf(
				`{"kind":%q,"apiVersion":%q,"metadata":{%s},"spec":{"nodeName":"n"}}`, k.Kind, k.APIVersion, metadata)))
			if err != nil {
				t.Fatal(err)
			}
			before := string(o.AppendJSON(nil))
			d := deletion.Decide(o, deletion.Options{Policy: tc.policy}, now)
			if got := describe(d); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if after := string(o.AppendJSON(nil)); after != before {
				t.Errorf("it changed what it was asked about: %s", after)
			}
		})
	}
}

func describe(d deletion.Decision) string {
	switch d.Action {
	case deletion.Remove:
		return "removed"
	case deletion.Nothing:
		return "nothing"
	case deletion.Refuse:
		return "refused"
	}
	var names []string
	for _, f := range d.Object.Finalizers().Items() {
		names = append(names, f.Str())
	}
	return strings.Join(names, " ")
}

// TestDecide_longest checks that the end of a very long grace period does not overflow (G12, G14).
func TestDecide_longest(t *testing.T) {
	t.Parallel()
	catalog, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_700_000_000, 0).UTC()
	for _, grace := range []int64{10_000_000_000, math.MaxInt64 - 1, math.MaxInt64} {
		o, err := catalog.Stored("pods").DecodeStored([]byte(
			`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},"spec":{"nodeName":"n"}}`))
		if err != nil {
			t.Fatal(err)
		}
		first := deletion.Decide(o, deletion.Options{Grace: &grace}, now)
		end, _ := first.Object.DeletionTimestamp()
		if seconds, _ := first.Object.DeletionGracePeriodSeconds(); seconds != grace || end.Year() < 2300 || end.Year() > 9999 {
			t.Errorf("grace %d: ends at %v after %d s", grace, end, seconds)
		}
		shorter := grace - 1
		again := deletion.Decide(first.Object, deletion.Options{Grace: &shorter}, now.Add(time.Hour))
		if later, _ := again.Object.DeletionTimestamp(); again.Action != deletion.Mark || !later.Equal(end) {
			t.Errorf("grace %d, then %d: action %d, ends at %v, not %v", grace, shorter, again.Action, later, end)
		}
	}
}

// TestDecide_again checks that a second delete may shorten the grace period but not extend it
// (G14).
func TestDecide_again(t *testing.T) {
	t.Parallel()
	catalog, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_700_000_000, 0).UTC()
	o, err := catalog.Stored("pods").DecodeStored([]byte(
		`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},"spec":{"nodeName":"n"}}`))
	if err != nil {
		t.Fatal(err)
	}
	first := int64(30)
	going := deletion.Decide(o, deletion.Options{Grace: &first}, now).Object
	for again, want := range map[int64]deletion.Action{60: deletion.Nothing, 30: deletion.Nothing, 10: deletion.Mark, 0: deletion.Remove} {
		if d := deletion.Decide(going, deletion.Options{Grace: &again}, now.Add(time.Second)); d.Action != want {
			t.Errorf("30 s, then %d s: action %d, want %d", again, d.Action, want)
		}
	}
}
