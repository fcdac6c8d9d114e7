package typed_test

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"

	"quorate/chaos/clients/internal/cluster"
)

// scales: a StatefulSet is scaled by the client that knows of nothing but scales, and by the typed
// one.
func scales(ctx context.Context, t *testing.T, c *cluster.Cluster) {
	sets := clientsets(t, c)
	made, err := sets[0].AppsV1().StatefulSets(namespace).Create(ctx, statefulSet("scaled"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	finder, err := discovery.NewDiscoveryClientForConfig(c.Config(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(finder))
	kinds := scale.NewDiscoveryScaleKindResolver(finder)
	client, err := scale.NewForConfig(c.Config(t, 1), mapper, dynamic.LegacyAPIPathResolverFunc, kinds)
	if err != nil {
		t.Fatal(err)
	}
	resource := appsv1.SchemeGroupVersion.WithResource("statefulsets")
	got, err := client.Scales(namespace).Get(ctx, resource.GroupResource(), "scaled", metav1.GetOptions{})
	if err != nil || got.Spec.Replicas != 1 || got.UID != made.UID || got.ResourceVersion != made.ResourceVersion {
		t.Fatalf("scale %+v, %v", got, err)
	}
	got.Spec.Replicas = 3
	if got, err = client.Scales(namespace).Update(ctx, resource.GroupResource(), got, metav1.UpdateOptions{}); err != nil || got.Spec.Replicas != 3 {
		t.Fatalf("updated %+v, %v", got, err)
	}
	got, err = client.Scales(namespace).Patch(ctx, resource, "scaled", types.MergePatchType, []byte(`{"spec":{"replicas":5}}`), metav1.PatchOptions{})
	if err != nil || got.Spec.Replicas != 5 {
		t.Fatalf("patched %+v, %v", got, err)
	}
	typed, err := sets[2].AppsV1().StatefulSets(namespace).GetScale(ctx, "scaled", metav1.GetOptions{})
	if err != nil || typed.Spec.Replicas != 5 || typed.Status.Selector != "app=scaled" {
		t.Errorf("typed scale %+v, %v", typed, err)
	}
	set, err := sets[0].AppsV1().StatefulSets(namespace).Get(ctx, "scaled", metav1.GetOptions{})
	if err != nil || *set.Spec.Replicas != 5 || set.Generation != 3 {
		t.Errorf("the set is %+v, %v", set, err)
	}
	if err := sets[1].AppsV1().StatefulSets(namespace).Delete(ctx, "scaled", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}
