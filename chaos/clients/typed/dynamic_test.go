package typed_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/pager"

	"quorate/chaos/clients/internal/cluster"
)

func dynamicClient(ctx context.Context, t *testing.T, c *cluster.Cluster) {
	client, err := dynamic.NewForConfig(c.Config(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	sets := client.Resource(appsv1.SchemeGroupVersion.WithResource("statefulsets")).Namespace(namespace)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(statefulSet("dynamic"))
	if err != nil {
		t.Fatal(err)
	}
	given := &unstructured.Unstructured{Object: content}
	given.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("StatefulSet"))
	made, err := sets.Create(ctx, given, metav1.CreateOptions{})
	if err != nil || made.GetAPIVersion() != "apps/v1" || made.GetGeneration() != 1 {
		t.Fatalf("created %+v, %v", made, err)
	}
	stream, err := sets.Watch(ctx, metav1.ListOptions{ResourceVersion: made.GetResourceVersion()})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Stop()
	patched, err := sets.Patch(ctx, "dynamic", types.MergePatchType, []byte(`{"spec":{"replicas":3}}`), metav1.PatchOptions{})
	if err != nil || patched.GetGeneration() != 2 {
		t.Fatalf("patched %+v, %v", patched, err)
	}
	status, err := sets.Patch(ctx, "dynamic", types.MergePatchType, []byte(`{"status":{"replicas":2},"spec":{"replicas":9}}`), metav1.PatchOptions{}, "status")
	if err != nil || status.GetGeneration() != 2 {
		t.Fatalf("status patched %+v, %v", status, err)
	}
	list, err := sets.List(ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("listed %+v, %v", list, err)
	}
	wanted, _, err := unstructured.NestedInt64(list.Items[0].Object, "spec", "replicas")
	if err != nil || wanted != 3 {
		t.Errorf("%d replicas wanted, %v", wanted, err)
	}
	if err := sets.Delete(ctx, "dynamic", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := sets.Get(ctx, "dynamic", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("read after the deletion: %v", err)
	}
	checkStream(t, stream, []string{patched.GetResourceVersion(), status.GetResourceVersion()})
}

// pages lists in pages, each from another node than the one before, and deletes what was listed.
func pages(ctx context.Context, t *testing.T, c *cluster.Cluster) {
	const count, size = 25, 10
	sets := clientsets(t, c)
	for i := range count {
		configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("page-%02d", i), Labels: map[string]string{"paged": "yes"}}}
		if _, err := sets[i%len(sets)].CoreV1().ConfigMaps(namespace).Create(ctx, configMap, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	var versions, left []string
	lister := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		list, err := sets[len(versions)%len(sets)].CoreV1().ConfigMaps(namespace).List(ctx, options)
		if err == nil {
			versions = append(versions, list.ResourceVersion)
			left = append(left, fmt.Sprint(list.Continue != ""))
		}
		return list, err
	})
	lister.PageSize, lister.PageBufferSize = size, 0
	var names []string
	err := lister.EachListItem(ctx, metav1.ListOptions{LabelSelector: "paged=yes"}, func(o runtime.Object) error {
		names = append(names, o.(*corev1.ConfigMap).Name)
		return nil
	})
	if err != nil || len(names) != count || names[0] != "page-00" || names[count-1] != "page-24" {
		t.Errorf("paged through %v, %v", names, err)
	}
	if strings.Join(left, " ") != "true true false" || versions[0] != versions[2] {
		t.Errorf("pages of versions %v, going on %v", versions, left)
	}
	configMaps := sets[0].CoreV1().ConfigMaps(namespace)
	if err := configMaps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "paged=yes"}); err != nil {
		t.Fatal(err)
	}
	rest, err := configMaps.List(ctx, metav1.ListOptions{LabelSelector: "paged=yes"})
	if err != nil || len(rest.Items) > 0 {
		t.Errorf("%d are left, %v", len(rest.Items), err)
	}
}
