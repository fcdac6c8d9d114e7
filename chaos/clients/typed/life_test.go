package typed_test

import (
	"context"
	"reflect"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

type object interface {
	metav1.Object
	runtime.Object
}

// collection is what every typed client of one kind offers, for objects O in lists L.
type collection[O object, L runtime.Object] interface {
	Create(ctx context.Context, o O, options metav1.CreateOptions) (O, error)
	Update(ctx context.Context, o O, options metav1.UpdateOptions) (O, error)
	Delete(ctx context.Context, name string, options metav1.DeleteOptions) error
	Get(ctx context.Context, name string, options metav1.GetOptions) (O, error)
	List(ctx context.Context, options metav1.ListOptions) (L, error)
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
	Patch(ctx context.Context, name string, kind types.PatchType, patch []byte, options metav1.PatchOptions, subresources ...string) (O, error)
}

// now deletes without a grace period.
func now() metav1.DeleteOptions { return *metav1.NewDeleteOptions(0) }

// live leads an object of one kind through its life. nodes are clients of the same collection, one
// for each node; calls go round among them.
func live[O object, L runtime.Object](ctx context.Context, t *testing.T, nodes []collection[O, L], o O) {
	t.Helper()
	calls := 0
	node := func() collection[O, L] {
		calls++
		return nodes[calls%len(nodes)]
	}
	name := o.GetName()
	o.SetLabels(map[string]string{"life": name})
	if _, err := node().Create(ctx, o, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		t.Fatalf("create, tried only: %v", err)
	}
	made, err := node().Create(ctx, o, metav1.CreateOptions{FieldManager: "test", FieldValidation: metav1.FieldValidationStrict})
	if err != nil || made.GetUID() == "" {
		t.Fatalf("create: %v, uid %q", err, made.GetUID())
	}
	if _, err := node().Create(ctx, o, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("a second create: %v", err)
	}
	read, err := node().Get(ctx, name, metav1.GetOptions{})
	if err != nil || !reflect.DeepEqual(read, made) {
		t.Errorf("read %+v, created %+v (%v)", read, made, err)
	}
	stream, err := node().Watch(ctx, metav1.ListOptions{ResourceVersion: made.GetResourceVersion(), LabelSelector: "life=" + name})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Stop()
	versions := change(ctx, t, node, made)
	checkList(ctx, t, node(), name)
	if err := node().Delete(ctx, name, now()); err != nil {
		t.Fatal(err)
	}
	if _, err := node().Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("read after the deletion: %v", err)
	}
	checkStream(t, stream, versions)
}

// change updates and patches an object in every way and returns the versions it had.
func change[O object, L runtime.Object](ctx context.Context, t *testing.T, node func() collection[O, L], made O) (versions []string) {
	t.Helper()
	changed := made.DeepCopyObject().(O)
	changed.SetAnnotations(map[string]string{"update": "yes"})
	changed, err := node().Update(ctx, changed, metav1.UpdateOptions{})
	if err != nil || changed.GetAnnotations()["update"] != "yes" {
		t.Fatalf("update: %+v, %v", changed, err)
	}
	versions = append(versions, changed.GetResourceVersion())
	stale := made.DeepCopyObject().(O)
	stale.SetAnnotations(map[string]string{"update": "late"})
	if _, err := node().Update(ctx, stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("an update of an old version: %v", err)
	}
	for _, p := range []struct {
		kind  types.PatchType
		patch string
	}{
		{types.MergePatchType, `{"metadata":{"annotations":{"merge":"yes"}}}`},
		{types.StrategicMergePatchType, `{"metadata":{"annotations":{"strategic":"yes"}}}`},
		{types.JSONPatchType, `[{"op":"add","path":"/metadata/annotations/json","value":"yes"}]`},
	} {
		changed, err = node().Patch(ctx, made.GetName(), p.kind, []byte(p.patch), metav1.PatchOptions{})
		if err != nil {
			t.Fatalf("%s: %v", p.kind, err)
		}
		versions = append(versions, changed.GetResourceVersion())
	}
	if len(changed.GetAnnotations()) != 4 {
		t.Errorf("annotations after all patches: %v", changed.GetAnnotations())
	}
	force := true
	_, err = node().Patch(ctx, made.GetName(), types.ApplyPatchType, []byte("{}"), metav1.PatchOptions{FieldManager: "test", Force: &force})
	if !apierrors.IsBadRequest(err) { // it says of no kind that it is one
		t.Errorf("server-side apply: %v", err)
	}
	return versions
}

func checkList[O object, L runtime.Object](ctx context.Context, t *testing.T, node collection[O, L], name string) {
	t.Helper()
	list, err := node.List(ctx, metav1.ListOptions{LabelSelector: "life=" + name, FieldSelector: "metadata.name=" + name})
	if err != nil || meta.LenList(list) != 1 {
		t.Errorf("list of one: %+v, %v", list, err)
	}
}

// checkStream expects each version once, then the end of the object.
func checkStream(t *testing.T, stream watch.Interface, versions []string) {
	t.Helper()
	var got []string
	for event := range stream.ResultChan() {
		o, ok := event.Object.(metav1.Object)
		if !ok {
			t.Fatalf("event %s %+v", event.Type, event.Object)
		}
		if event.Type == watch.Deleted {
			if !reflect.DeepEqual(got, versions) {
				t.Errorf("the watch reported versions %v, want %v", got, versions)
			}
			return
		}
		got = append(got, o.GetResourceVersion())
	}
	t.Errorf("the watch ended after %v", got)
}
