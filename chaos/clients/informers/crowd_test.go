package informers_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"quorate/chaos/clients/internal/cluster"
	"quorate/chaos/nodes"
)

// flavour is a way to make an informer.
type flavour struct {
	name   string
	count  int
	inform func(config *rest.Config) (cache.SharedIndexInformer, error)
}

// resyncEvery is how often informers that resync tell everything again.
const resyncEvery = 20 * time.Second

// flavours are the informers of the crowd. Stock ones begin with a watch that sends the whole state
// (sendInitialEvents), and typed ones prefer protobuf.
func flavours() []flavour {
	return []flavour{
		{"typed", 38, func(config *rest.Config) (cache.SharedIndexInformer, error) { return typed(config, 0) }},
		{"typed, with resync", 2, func(config *rest.Config) (cache.SharedIndexInformer, error) { return typed(config, resyncEvery) }},
		{"typed, list and watch", 8, listing},
		{"dynamic", 2, untyped},
	}
}

func typed(config *rest.Config, resync time.Duration) (cache.SharedIndexInformer, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, resync, informers.WithNamespace(namespace))
	return factory.Core().V1().ConfigMaps().Informer(), nil
}

// listWatch has an informer list first, as those before client-go 0.35 do.
type listWatch struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported is asked for by client-go.
func (listWatch) IsWatchListSemanticsUnSupported() bool { return true }

func listing(config *rest.Config) (cache.SharedIndexInformer, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	configMaps := client.CoreV1().ConfigMaps(namespace)
	source := listWatch{&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return configMaps.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return configMaps.Watch(ctx, options)
		},
	}}
	return cache.NewSharedIndexInformer(source, &corev1.ConfigMap{}, 0, cache.Indexers{}), nil
}

func untyped(config *rest.Config) (cache.SharedIndexInformer, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, namespace, nil)
	return factory.ForResource(corev1.SchemeGroupVersion.WithResource("configmaps")).Informer(), nil
}

// member is one informer of the crowd.
type member struct {
	flavour  string
	informer cache.SharedIndexInformer
	requests *requests
	record   *record
	lists    int // of its requests when it was in sync
	watches  int
}

// crowd are informers, each a client of its own, with the nodes dealt out among them.
type crowd []*member

// gather starts the crowd; it ends with the test, or when leave is called.
func gather(t *testing.T, c *cluster.Cluster) (all crowd, leave func()) {
	t.Helper()
	logger := logr.FromSlogHandler(slog.NewTextHandler(t.Output(), nil))
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logger))
	var running sync.WaitGroup
	leave = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(leave)
	for _, f := range flavours() {
		for range f.count {
			m := &member{flavour: f.name, requests: &requests{}, record: &record{initial: map[string]uint64{}}}
			config := c.Config(t, len(all))
			config.Wrap(m.requests.wrap)
			var err error
			if m.informer, err = f.inform(config); err != nil {
				t.Fatal(err)
			}
			if _, err = m.informer.AddEventHandler(m.record); err != nil {
				t.Fatal(err)
			}
			running.Go(func() { m.informer.RunWithContext(ctx) })
			all = append(all, m)
		}
	}
	return all, leave
}

// awaitSync waits until every informer has its first state, and counts requests from there.
func (all crowd) awaitSync(ctx context.Context, t *testing.T) {
	t.Helper()
	for i, m := range all {
		if err := nodes.Await(ctx, m.informer.HasSynced); err != nil {
			t.Fatalf("informer %d (%s) has no state: %v; %v", i, m.flavour, err, m.requests.told())
		}
		m.lists, m.watches = m.requests.counts()
	}
}

// await waits until every informer has reached the version.
func (all crowd) await(ctx context.Context, t *testing.T, version uint64) {
	t.Helper()
	for i, m := range all {
		if err := nodes.Await(ctx, func() bool { return m.record.reached(version) }); err != nil {
			t.Fatalf("informer %d (%s) does not arrive at %d: %v; %v", i, m.flavour, version, err, m.requests.told())
		}
	}
}

// relists is how often informers listed anew so far.
func (all crowd) relists() (count int) {
	for _, m := range all {
		lists, _ := m.requests.counts()
		count += lists - m.lists
	}
	return count
}
