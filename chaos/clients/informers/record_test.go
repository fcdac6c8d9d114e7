package informers_test

import (
	"fmt"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"quorate/chaos/history"
)

// record is what an informer told its handler.
type record struct {
	mu      sync.Mutex
	initial map[string]uint64 // the versions of the first list, by name
	changes []history.Event   // everything after it
	resyncs int
	strange []string // what no informer should tell
}

// OnAdd implements cache.ResourceEventHandler.
func (r *record) OnAdd(object any, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen, err := seenOf(watch.Added, object)
	switch {
	case err != nil:
		r.strange = append(r.strange, err.Error())
	case first:
		r.initial[seen.Item.Key] = seen.Item.Version
	default:
		r.changes = append(r.changes, seen)
	}
}

// OnUpdate implements cache.ResourceEventHandler. Both are the same version when the informer only
// tells again what it has.
func (r *record) OnUpdate(before, object any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen, err := seenOf(watch.Modified, object)
	old, oldErr := seenOf(watch.Modified, before)
	switch {
	case err != nil || oldErr != nil:
		r.strange = append(r.strange, fmt.Sprint(err, oldErr))
	case seen.Item.Version == old.Item.Version:
		r.resyncs++
	default:
		r.changes = append(r.changes, seen)
	}
}

// OnDelete implements cache.ResourceEventHandler. A cache.DeletedFinalStateUnknown, which says that
// a deletion was missed, is no object.
func (r *record) OnDelete(object any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen, err := seenOf(watch.Deleted, object)
	if err != nil {
		r.strange = append(r.strange, err.Error())
		return
	}
	r.changes = append(r.changes, seen)
}

// reached reports whether the newest change is of the version.
func (r *record) reached(version uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.changes) > 0 && r.changes[len(r.changes)-1].Item.Version == version
}

// seenOf says of an object what the chaos runner's watchers note.
func seenOf(kind watch.EventType, object any) (history.Event, error) {
	seen := history.Event{Type: string(kind)}
	var meta metav1.Object
	switch o := object.(type) {
	case *corev1.ConfigMap:
		meta, seen.Item.Value = o, o.Data["value"]
	case *unstructured.Unstructured:
		meta = o
		var err error
		if seen.Item.Value, _, err = unstructured.NestedString(o.Object, "data", "value"); err != nil {
			return seen, err
		}
	default:
		return seen, fmt.Errorf("%s %T", kind, object)
	}
	var err error
	seen.Item.Key, seen.Item.UID = meta.GetName(), string(meta.GetUID())
	seen.Item.Version, err = strconv.ParseUint(meta.GetResourceVersion(), 10, 64)
	return seen, err
}
