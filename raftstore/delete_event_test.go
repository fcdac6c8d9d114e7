package raftstore_test

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"quorate/proto/logpb"
	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
	"quorate/raftstore/testcluster"
)

// TestDeleteEventHasRemovedObject deletes an object with a final object that has other labels. The
// event must have both objects, whether it comes from memory or is replayed from the log, and even
// if the entry does not contain the removed object (D19: selectors compare the old and the new
// state).
func TestDeleteEventHasRemovedObject(t *testing.T) {
	c := testcluster.New(t, 1, func(cfg *raftstore.Config) { cfg.HistoryBytes = 64 << 10 })
	c.Ready()
	store := c.Leader().Store
	labelled := func(name, label string, size int) *state.Object {
		o := object(name, strings.Repeat(label, size))
		o.Labels = state.NewAttributes(map[string]string{"l": label})
		return o
	}
	for _, tc := range []struct {
		name   string
		size   int
		remove func(previous, final *state.Object) error
	}{
		{"carried", 1, func(previous, final *state.Object) error {
			_, err := store.Delete(within(t, 20*time.Second), raftstore.Delete{Key: previous.Key, Previous: previous, Final: final})
			return err
		}},
		{"too large for the entry", raftstore.MaxEntryBytes/2 + 1000, func(previous, final *state.Object) error {
			_, err := store.Delete(within(t, 20*time.Second), raftstore.Delete{Key: previous.Key, Previous: previous, Final: final})
			return err
		}},
		{"of an older build", 1, func(previous, final *state.Object) error {
			data, err := proto.Marshal(&logpb.Entry{Format: 1, Op: &logpb.Entry_Delete{Delete: &logpb.Delete{
				Key:             &logpb.Key{Resource: resource, Namespace: "default", Name: "x"},
				PreviousVersion: previous.Version,
				Final:           &logpb.Object{Value: final.Value, VersionOffset: final.VersionOffset, Uid: final.UID, Labels: string(final.Labels)},
			}}})
			store.ProposeUnchecked(data)
			return err
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			previous, err := store.Create(within(t, 20*time.Second), raftstore.Create{Key: key("x"), Object: labelled("x", "a", tc.size)})
			if err != nil {
				t.Fatal(err)
			}
			watched := func() *history.Event {
				t.Helper()
				cursor, err := store.Watch(state.ResourcePrefix(resource), previous.Version)
				if err != nil {
					t.Fatal(err)
				}
				events, err := cursor.Next(within(t, 20*time.Second))
				if err != nil || events[0].Type != history.Deleted {
					t.Fatalf("got %v, %v", events, err)
				}
				return events[0]
			}
			if err := tc.remove(previous, labelled("x", "b", tc.size)); err != nil {
				t.Fatal(err)
			}
			live := watched()
			for i := range 4 {
				mustCreate(t, store, fmt.Sprintf("filler-%s-%d", strings.ReplaceAll(tc.name, " ", "-"), i), strings.Repeat("f", 64<<10))
			}
			replayed := watched()
			if replayed.Object.Created != 0 { // which the log doesn't have
				t.Fatal("the event did not come from the log")
			}
			left := bytes.Replace(previous.Value, []byte(`"`+strconv.FormatUint(previous.Version, 10)+`"`),
				[]byte(`"`+strconv.FormatUint(live.Index, 10)+`"`), 1)
			for how, e := range map[string]*history.Event{"live": live, "replayed": replayed} {
				if e.Previous == nil || e.Previous.Labels != previous.Labels || e.Previous.Version != previous.Version ||
					e.Object.Labels == previous.Labels || !bytes.Equal(e.Left(), left) {
					t.Errorf("%s: the removed object is %+v", how, e.Previous)
				}
			}
		})
	}
}
