package fsm_test

import (
	"errors"
	"testing"

	"google.golang.org/protobuf/proto"

	"quorate/proto/logpb"
	"quorate/raftstore/fsm"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// The removed object comes from the entry that wrote it, as long as the log has that entry (D19:
// selectors compare the old and the new state).
func TestReplay_of_a_delete_that_carries_no_previous_object(t *testing.T) {
	final := func(labels string) *logpb.Object {
		o := proto.Clone(createEntry("pods", "a", "x", 10).GetCreate().GetObject()).(*logpb.Object)
		o.Labels = labels
		return o
	}
	had := createEntry("pods", "a", "x", 10)
	labels := had.GetCreate().GetObject().GetLabels()
	for _, tc := range []struct {
		name           string
		wrote          []byte
		final          *logpb.Object
		known, changed bool
	}{
		{"changed", marshal(t, had), final("l\x00y\x00"), true, true},
		{"kept", marshal(t, had), final(labels), true, false},
		{"gone from the log", nil, final("l\x00y\x00"), false, false},
		{"of another object", marshal(t, createEntry("pods", "a", "other", 10)), final("l\x00y\x00"), false, false},
		{"of a newer build", []byte{8, 2}, final("l\x00y\x00"), false, false},
		{"about nothing", marshal(t, &logpb.Entry{Format: 1, Op: &logpb.Entry_Pin{Pin: &logpb.Pin{}}}), final("l\x00y\x00"), false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			data := marshal(t, &logpb.Entry{Format: 1, Op: &logpb.Entry_Delete{Delete: &logpb.Delete{
				Key: had.GetCreate().GetKey(), PreviousVersion: 3, Final: tc.final,
			}}})
			event, err := fsm.Replay(data, 7, new(state.Failed), "", func(index uint64) ([]byte, error) {
				if index != 3 {
					t.Errorf("read entry %d", index)
				}
				return tc.wrote, nil
			})
			if err != nil || event.PreviousUnknown == tc.known || (event.Previous != nil) != tc.changed {
				t.Fatalf("unknown %v, previous %v: %v", event.PreviousUnknown, event.Previous, err)
			}
			if tc.changed && (string(event.Previous.Labels) != labels || event.Previous.Version != 3) {
				t.Errorf("previous %+v", event.Previous)
			}
			failure := errors.New("the disk")
			if _, err := fsm.Replay(data, 7, new(state.Failed), "", func(uint64) ([]byte, error) { return nil, failure }); !errors.Is(err, failure) {
				t.Errorf("the log that can't be read gives %v", err)
			}
		})
	}
}

// Replay reads no other entry.
func TestReplay_of_a_delete_that_carries_the_previous_object(t *testing.T) {
	created := createEntry("pods", "a", "x", 10).GetCreate()
	final := proto.Clone(created.GetObject()).(*logpb.Object)
	final.Labels = "l\x00y\x00"
	for name, removal := range map[string]*logpb.Delete{
		"changed": {Key: created.GetKey(), PreviousVersion: 3, Final: final, Previous: created.GetObject()},
		"kept":    {Key: created.GetKey(), PreviousVersion: 3, Final: final, AttributesKept: true},
	} {
		data := marshal(t, &logpb.Entry{Format: 1, Op: &logpb.Entry_Delete{Delete: removal}})
		event, err := fsm.Replay(data, 7, new(state.Failed), "", func(index uint64) ([]byte, error) {
			t.Errorf("%s: read entry %d", name, index)
			return nil, nil
		})
		if err != nil || event.PreviousUnknown || (event.Previous != nil) != (name == "changed") {
			t.Errorf("%s: unknown %v, previous %v: %v", name, event.PreviousUnknown, event.Previous, err)
		}
	}
}

// At or below the floor of the failures Replay can't distinguish a change from a refusal.
func TestReplay_refuses_entries_whose_failures_are_forgotten(t *testing.T) {
	loader, err := state.NewLoader(100, "c", nil, 40)
	if err != nil {
		t.Fatal(err)
	}
	data, err := proto.Marshal(createEntry("pods", "a", "x", 10))
	if err != nil {
		t.Fatal(err)
	}
	failed := loader.Tree().Publish().Failed()
	var compacted *history.Compacted
	if _, err := fsm.Replay(data, 40, failed, "", noEntry); !errors.As(err, &compacted) || compacted.Oldest != 40 {
		t.Fatalf("replay at the floor gives %v", err)
	}
	if e, err := fsm.Replay(data, 41, failed, "", noEntry); err != nil || e == nil {
		t.Fatalf("replay above the floor gives %v, %v", e, err)
	}
}
