package typed_test

import (
	"context"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/disk"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/record"

	"quorate/chaos/clients/internal/cluster"
	"quorate/chaos/nodes"
)

// discoveries: what the plain client and those that cache find is the same, on every node, and
// resources are found by any name.
func discoveries(_ context.Context, t *testing.T, c *cluster.Cluster) {
	dir := t.TempDir()
	var first []string
	for i := range c.Nodes() {
		plain, err := discovery.NewDiscoveryClientForConfig(c.Config(t, i))
		if err != nil {
			t.Fatal(err)
		}
		cached, err := disk.NewCachedDiscoveryClientForConfig(c.Config(t, i), dir+"/discovery", dir+"/http", patience)
		if err != nil {
			t.Fatal(err)
		}
		for _, client := range []discovery.DiscoveryInterface{plain, cached, memory.NewMemCacheClient(plain)} {
			found := resources(t, client)
			if first == nil {
				first = found
			}
			if !slices.Equal(found, first) {
				t.Errorf("node %d, %T: found %v, want %v", i, client, found, first)
			}
		}
		if version, err := plain.ServerVersion(); err != nil || version.GitVersion == "" {
			t.Errorf("version %+v, %v", version, err)
		}
		checkMapping(t, memory.NewMemCacheClient(plain))
	}
}

// resources are all that a client discovers, as group/version/resource.
func resources(t *testing.T, client discovery.DiscoveryInterface) (all []string) {
	t.Helper()
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		for _, r := range list.APIResources {
			all = append(all, list.GroupVersion+"/"+r.Name)
		}
	}
	slices.Sort(all)
	if !slices.Contains(all, "v1/pods/status") || !slices.Contains(all, "apps/v1/statefulsets") {
		t.Errorf("%T discovers %v", client, all)
	}
	return all
}

func checkMapping(t *testing.T, client discovery.CachedDiscoveryInterface) {
	t.Helper()
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(client)
	kind, err := mapper.KindFor(schema.GroupVersionResource{Resource: "statefulsets"})
	if err != nil || kind.GroupKind() != (schema.GroupKind{Group: "apps", Kind: "StatefulSet"}) {
		t.Errorf("statefulsets are %v, %v", kind, err)
	}
	asked, err := mapper.RESTMapping(kind.GroupKind(), "v1")
	if err != nil || asked.Resource != appsv1.SchemeGroupVersion.WithResource("statefulsets") {
		t.Errorf("statefulsets of apps/v1 are at %+v, %v", asked, err)
	}
	mapping, err := mapper.RESTMapping(schema.GroupKind{Kind: "Node"})
	if err != nil || mapping.Resource.Resource != "nodes" || mapping.Scope.Name() != "root" {
		t.Errorf("nodes are at %+v, %v", mapping, err)
	}
	short := restmapper.NewShortcutExpander(mapper, client, nil)
	resource, err := short.ResourceFor(schema.GroupVersionResource{Resource: "cm"})
	if err != nil || resource.Resource != "configmaps" {
		t.Errorf("cm is %v, %v", resource, err)
	}
	if all, ok := restmapper.NewDiscoveryCategoryExpander(client).Expand("all"); !ok || !slices.Contains(all, schema.GroupResource{Resource: "pods"}) {
		t.Errorf("all are %v", all)
	}
}

// events: the recorder counts what happens again, with patches.
func events(ctx context.Context, t *testing.T, c *cluster.Cluster) {
	set := clientsets(t, c)[1]
	configMap, err := set.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "told-of"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: set.CoreV1().Events("")})
	recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "test"})
	for range 3 {
		recorder.Event(configMap, corev1.EventTypeNormal, "Told", "the same again")
	}
	var list *corev1.EventList
	told := func() bool {
		list, err = set.CoreV1().Events(namespace).SearchWithContext(ctx, scheme.Scheme, configMap)
		return err == nil && len(list.Items) == 1 && list.Items[0].Count == 3
	}
	if waited := nodes.Await(ctx, told); waited != nil {
		t.Fatalf("%v: events %+v, %v", waited, list, err)
	}
	if e := list.Items[0]; e.Reason != "Told" || e.Source.Component != "test" || e.FirstTimestamp.After(e.LastTimestamp.Time) {
		t.Errorf("event %+v", e)
	}
}
