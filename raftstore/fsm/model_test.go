package fsm_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"quorate/proto/logpb"
	"quorate/raftstore/fsm"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// model is a naive state machine on a map, with strings and protobuf messages.
type model struct {
	objects   map[state.Key]flatObject
	clusterID string
	failed    []uint64
}

// flatObject is a state.Object in a comparable form.
type flatObject struct {
	Key              state.Key
	Version, Created uint64
	UID, Value       string
	Labels, Fields   string
	Sealed           bool
}

// flatEvent is a history.Event in a comparable form.
type flatEvent struct {
	Index    uint64
	Type     history.Type
	Object   flatObject
	Previous flatObject
	Left     string
}

func flattenObject(o *state.Object) flatObject {
	if o == nil {
		return flatObject{}
	}
	return flatObject{
		Key: o.Key, Version: o.Version, Created: o.Created, UID: o.UID, Value: string(o.Value),
		Labels: string(o.Labels), Fields: string(o.Fields), Sealed: o.Sealed,
	}
}

func flattenEvent(e *history.Event) *flatEvent {
	if e == nil {
		return nil
	}
	return &flatEvent{
		Index: e.Index, Type: e.Type, Object: flattenObject(e.Object), Previous: flattenObject(e.Previous), Left: string(e.Left()),
	}
}

func modelKey(k *logpb.Key) state.Key {
	return state.NewKey(k.GetResource(), k.GetNamespace(), k.GetName())
}

func modelObject(k state.Key, o *logpb.Object, version, created uint64) flatObject {
	at := o.GetVersionOffset()
	return flatObject{
		Key: k, Version: version, Created: created, UID: o.GetUid(), Labels: o.GetLabels(), Fields: o.GetFields(),
		Value:  fmt.Sprintf("%s%d%s", o.GetValue()[:at], version, o.GetValue()[at:]),
		Sealed: o.GetSealed(),
	}
}

// apply returns the object and event, or the refusal, that Apply must return.
func (m *model) apply(index uint64, e *logpb.Entry) (flatObject, *flatEvent, error) {
	o, event, err := m.decide(index, e)
	if err != nil {
		m.failed = append(m.failed, index)
	}
	return o, event, err
}

func (m *model) decide(index uint64, e *logpb.Entry) (flatObject, *flatEvent, error) {
	switch op := e.GetOp().(type) {
	case *logpb.Entry_Create:
		k := modelKey(op.Create.GetKey())
		if op.Create.GetGuard() != nil {
			guard := modelKey(op.Create.GetGuard())
			g, ok := m.objects[guard]
			if !ok || g.Sealed {
				return flatObject{}, nil, &state.GuardFailed{Guard: guard, Sealed: ok}
			}
		}
		if _, ok := m.objects[k]; ok {
			return flatObject{}, nil, &state.Exists{Key: k}
		}
		o := modelObject(k, op.Create.GetObject(), index, index)
		m.objects[k] = o
		return o, &flatEvent{Index: index, Type: history.Added, Object: o}, nil
	case *logpb.Entry_Update:
		k := modelKey(op.Update.GetKey())
		have, err := m.precondition(k, op.Update.GetUid(), op.Update.GetPreviousVersion())
		if err != nil {
			return flatObject{}, nil, err
		}
		o := modelObject(k, op.Update.GetObject(), index, have.Created)
		m.objects[k] = o
		event := &flatEvent{Index: index, Type: history.Modified, Object: o}
		if op.Update.GetPrevious() != nil {
			event.Previous = have
			event.Left = modelObject(k, op.Update.GetPrevious(), index, 0).Value
		}
		return o, event, nil
	case *logpb.Entry_Delete:
		k := modelKey(op.Delete.GetKey())
		have, err := m.precondition(k, op.Delete.GetUid(), op.Delete.GetPreviousVersion())
		if err != nil {
			return flatObject{}, nil, err
		}
		delete(m.objects, k)
		o := modelObject(k, op.Delete.GetFinal(), index, have.Created)
		event := &flatEvent{Index: index, Type: history.Deleted, Object: o}
		if o.Labels != have.Labels || o.Fields != have.Fields {
			event.Previous = have
			event.Left = modelObject(k, gap(have), index, 0).Value
		}
		return o, event, nil
	case *logpb.Entry_Pin:
		return flatObject{}, nil, nil
	}
	if m.clusterID == "" {
		m.clusterID = e.GetInit().GetClusterId()
	}
	return flatObject{}, nil, nil
}

func (m *model) precondition(k state.Key, uid string, version uint64) (flatObject, error) {
	have, ok := m.objects[k]
	switch {
	case !ok:
		return have, &state.NotFound{Key: k}
	case uid != "" && uid != have.UID:
		return have, &state.UIDMismatch{Key: k, Want: uid, Have: have.UID}
	case version != have.Version:
		return have, &state.Conflict{Key: k, Want: version, Have: have.Version}
	}
	return have, nil
}

// entries generates log entries, most of which the model's state accepts.
type entries struct {
	t       *rapid.T
	m       *model
	uids    int
	payload int
}

func (g *entries) key() *logpb.Key {
	name := rapid.SampledFrom([]string{"a", "b", "c"})
	switch rapid.IntRange(0, 3).Draw(g.t, "kind") {
	case 0:
		return &logpb.Key{Resource: "namespaces", Name: name.Draw(g.t, "namespace")}
	case 1:
		return &logpb.Key{Resource: "apps/deployments", Namespace: name.Draw(g.t, "namespace"), Name: name.Draw(g.t, "name")}
	}
	return &logpb.Key{Resource: "pods", Namespace: name.Draw(g.t, "namespace"), Name: name.Draw(g.t, "name")}
}

func (g *entries) object(uid string) *logpb.Object {
	g.payload++
	head := `{"kind":"K","metadata":{"resourceVersion":"`
	return &logpb.Object{
		Value:         fmt.Appendf(nil, `%s"},"n":%d}`, head, g.payload),
		VersionOffset: uint32(len(head)),
		Uid:           uid,
		Labels:        string(state.NewAttributes(map[string]string{"l": rapid.SampledFrom([]string{"0", "1"}).Draw(g.t, "label")})),
		Fields:        string(state.NewAttributes(map[string]string{"f": rapid.SampledFrom([]string{"0", "1"}).Draw(g.t, "field")})),
		Sealed:        rapid.IntRange(0, 4).Draw(g.t, "sealed") == 0,
	}
}

// gap removes the digits of the version from an object's value.
func gap(o flatObject) *logpb.Object {
	digits := fmt.Sprint(o.Version)
	at := bytes.Index([]byte(o.Value), []byte(`"`+digits+`"`)) + 1
	return &logpb.Object{
		Value: []byte(o.Value[:at] + o.Value[at+len(digits):]), VersionOffset: uint32(at), Uid: o.UID,
		Labels: o.Labels, Fields: o.Fields, Sealed: o.Sealed,
	}
}

func (g *entries) draw() *logpb.Entry {
	e := &logpb.Entry{Format: 1, TimeUnixNano: rapid.Int64Range(0, 1<<60).Draw(g.t, "time")}
	k := g.key()
	have, ok := g.m.objects[modelKey(k)]
	version := have.Version + uint64(max(0, rapid.IntRange(-8, 1).Draw(g.t, "stale")))
	uid := rapid.SampledFrom([]string{"", have.UID, have.UID, "other"}).Draw(g.t, "uid")
	choice := rapid.IntRange(0, 9).Draw(g.t, "op")
	switch {
	case choice == 9 && rapid.Bool().Draw(g.t, "pin"):
		e.Op = &logpb.Entry_Pin{Pin: &logpb.Pin{}}
	case choice == 9 && rapid.Bool().Draw(g.t, "init"):
		e.Op = &logpb.Entry_Init{Init: &logpb.Init{ClusterId: fmt.Sprintf("c%d", g.payload)}}
	case choice < 2 || !ok && choice < 7:
		g.uids++
		create := &logpb.Create{Key: k, Object: g.object(fmt.Sprintf("u%d", g.uids))}
		if k.GetNamespace() != "" && rapid.Bool().Draw(g.t, "guarded") {
			create.Guard = &logpb.Key{Resource: "namespaces", Name: k.GetNamespace()}
		}
		e.Op = &logpb.Entry_Create{Create: create}
	case choice < 7:
		o := g.object(have.UID)
		update := &logpb.Update{Key: k, Object: o, PreviousVersion: version, Uid: uid}
		if ok && (o.GetLabels() != have.Labels || o.GetFields() != have.Fields) {
			update.Previous = gap(have)
		}
		e.Op = &logpb.Entry_Update{Update: update}
	default:
		removal := &logpb.Delete{Key: k, PreviousVersion: version, Uid: uid, Final: g.object(have.UID)}
		removal.AttributesKept = removal.Final.Labels == have.Labels && removal.Final.Fields == have.Fields
		if ok && !removal.AttributesKept {
			removal.Previous = gap(have)
		}
		if rapid.IntRange(0, 2).Draw(g.t, "older build") == 0 {
			removal.AttributesKept, removal.Previous = false, nil
		}
		e.Op = &logpb.Entry_Delete{Delete: removal}
	}
	return e
}

// TestApply_follows_the_model applies random entries to a naive model and to two replicas, one of
// which restarts from snapshots. It compares every result, event and replay, and the whole state
// (D9, D22: watchers get every change once, in order; D19, D20: the objects in events; A33: the
// namespace is checked atomically).
func TestApply_follows_the_model(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{objects: make(map[state.Key]flatObject)}
		g := &entries{t: t, m: m}
		steady, restarted := &replica{tree: state.NewTree()}, &replica{tree: state.NewTree()}
		var index uint64
		var log []logged
		for range rapid.IntRange(1, 120).Draw(t, "entries") {
			index += uint64(rapid.IntRange(1, 3).Draw(t, "gap")) // Raft's own entries take the other indexes
			entry := g.draw()
			data, err := proto.Marshal(entry)
			if err != nil {
				t.Fatal(err)
			}
			object, event, refusal := m.apply(index, entry)
			log = append(log, logged{index, data, event})
			for _, r := range []*replica{steady, restarted} {
				r.applyAndCheck(t, log[len(log)-1], object, refusal)
			}
			if rapid.IntRange(0, 5).Draw(t, "publish") == 0 {
				steady.publish(t)
			}
			if rapid.IntRange(0, 5).Draw(t, "restart") == 0 {
				restarted.restart(t)
			}
		}
		if a, b := snapshotOf(t, steady.tree.Publish()), snapshotOf(t, restarted.tree.Publish()); !bytes.Equal(a, b) {
			t.Fatal("replicas with the same log write different snapshots")
		}
		for _, r := range []*replica{steady, restarted} {
			m.compare(t, r.tree.Publish())
			r.checkOldRoots(t)
			checkReplay(t, log, r.tree.Publish())
		}
	})
}

// logged is an entry with the event that it must cause.
type logged struct {
	index uint64
	data  []byte
	event *flatEvent
}

type replica struct {
	tree  *state.Tree
	roots []*state.Root // published earlier
	bytes [][]byte      // snapshots of roots when they were published
}

func (r *replica) applyAndCheck(t *rapid.T, entry logged, object flatObject, refusal error) {
	data := bytes.Clone(entry.data)
	result, event, err := fsm.Apply(r.tree, entry.index, data)
	if err != nil {
		t.Fatal(err)
	}
	clear(data) // Apply must not retain it
	if diff := cmp.Diff(refusal, result.Err); diff != "" {
		t.Fatalf("entry %d: refusal (-model +apply):\n%s", entry.index, diff)
	}
	if diff := cmp.Diff(object, flattenObject(result.Object)); diff != "" {
		t.Fatalf("entry %d: object (-model +apply):\n%s", entry.index, diff)
	}
	if diff := cmp.Diff(entry.event, flattenEvent(event)); diff != "" {
		t.Fatalf("entry %d: event (-model +apply):\n%s", entry.index, diff)
	}
}

func (r *replica) publish(t *rapid.T) {
	root := r.tree.Publish()
	r.roots = append(r.roots, root)
	r.bytes = append(r.bytes, snapshotOf(t, root))
}

func (r *replica) restart(t *rapid.T) {
	tree, err := fsm.ReadSnapshot(bytes.NewReader(snapshotOf(t, r.tree.Publish())))
	if err != nil {
		t.Fatal(err)
	}
	r.tree = tree
}

func (r *replica) checkOldRoots(t *rapid.T) {
	for i, root := range r.roots {
		if !bytes.Equal(r.bytes[i], snapshotOf(t, root)) {
			t.Fatalf("the root of index %d changed after it was published", root.Index())
		}
	}
}

// compare checks a root against the model through each of its methods.
func (m *model) compare(t *rapid.T, root *state.Root) {
	keys := slices.Sorted(maps.Keys(m.objects))
	if root.ClusterID() != m.clusterID || root.Len() != len(keys) {
		t.Fatalf("cluster %q with %d objects, want %q with %d", root.ClusterID(), root.Len(), m.clusterID, len(keys))
	}
	if got := slices.Collect(root.Failed().All()); !slices.Equal(got, m.failed) {
		t.Fatalf("failed entries %v, want %v", got, m.failed)
	}
	for _, p := range []state.Prefix{"", state.ResourcePrefix("pods"), state.NamespacePrefix("pods", "b"), state.ResourcePrefix("none")} {
		var want []state.Key
		for _, k := range keys {
			if p.Covers(k) {
				want = append(want, k)
			}
		}
		var got []state.Key
		root.Ascend(p, "", func(o *state.Object) bool {
			got = append(got, o.Key)
			if diff := cmp.Diff(m.objects[o.Key], flattenObject(o)); diff != "" || root.Get(o.Key) != o {
				t.Fatalf("object %q (-model +state):\n%s", o.Key, diff)
			}
			return true
		})
		if !slices.Equal(got, want) || root.Count(p) != len(want) {
			t.Fatalf("%q holds %q, counted %d; want %q", p, got, root.Count(p), want)
		}
	}
}

// checkReplay checks that replaying the log yields the same events as applying it.
func checkReplay(t *rapid.T, log []logged, root *state.Root) {
	pods := state.ResourcePrefix("pods")
	at := func(index uint64) ([]byte, error) {
		for _, entry := range log {
			if entry.index == index {
				return entry.data, nil
			}
		}
		return nil, nil
	}
	for _, entry := range log {
		want := entry.event
		if want != nil {
			replayed := *want // entries don't carry when their object was created
			replayed.Previous.Created = 0
			if replayed.Type != history.Added {
				replayed.Object.Created = 0
			}
			want = &replayed
		}
		event, err := fsm.Replay(entry.data, entry.index, root.Failed(), "", at)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, flattenEvent(event)); diff != "" {
			t.Fatalf("entry %d: replay (-live +replayed):\n%s", entry.index, diff)
		}
		event, err = fsm.Replay(entry.data, entry.index, root.Failed(), pods, at)
		if wanted := want != nil && pods.Covers(want.Object.Key); err != nil || (event != nil) != wanted {
			t.Fatalf("entry %d: replay for pods gives %v, %v; wanted %v", entry.index, event, err, wanted)
		}
	}
}
