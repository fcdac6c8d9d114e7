package typed_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"quorate/chaos/clients/internal/cluster"
)

// TestAcrossKilledLeaders uses what must go on when a leader is killed.
func TestAcrossKilledLeaders(t *testing.T) {
	c := cluster.Start(t, 3)
	for _, tc := range []testCase{
		{"a retrying watch", retryWatcher},
		{"waiting until, with a sync", untilWithSync},
		{"leader election with leases", leaderElection},
	} {
		tc.run(t, c)
	}
}

// onLeader returns a client whose node leads now.
func onLeader(ctx context.Context, t *testing.T, c *cluster.Cluster) *kubernetes.Clientset {
	t.Helper()
	leader, err := c.Nemesis(t, 0, nil).Leader(ctx)
	if err != nil {
		t.Fatal(err)
	}
	sets := clientsets(t, c)
	for i, node := range c.Nodes() {
		if node.Name == leader {
			return sets[i]
		}
	}
	t.Fatalf("leader %q is no node", leader)
	return nil
}

// retryWatcher: a RetryWatcher whose node is killed goes on at another one and tells every version
// once.
func retryWatcher(ctx context.Context, t *testing.T, c *cluster.Cluster) {
	watched := onLeader(ctx, t, c).CoreV1().ConfigMaps(namespace)
	made, err := watched.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "followed"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	stream, err := watchtools.NewRetryWatcherWithContext(ctx, made.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.FieldSelector = "metadata.name=followed"
			return watched.Watch(ctx, options)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Stop()
	var versions []string
	change := func() {
		t.Helper()
		patch := fmt.Sprintf(`{"data":{"change":"%d"}}`, len(versions))
		changed, err := watched.Patch(ctx, "followed", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		versions = append(versions, changed.ResourceVersion)
	}
	change()
	if err := c.KillLeader(ctx, t); err != nil {
		t.Fatal(err)
	}
	change()
	change()
	if err := watched.Delete(ctx, "followed", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for event := range stream.ResultChan() {
		if event.Type == watch.Deleted {
			if !slices.Equal(got, versions) {
				t.Errorf("received versions %v, want %v", got, versions)
			}
			return
		}
		o, ok := event.Object.(*corev1.ConfigMap)
		if !ok {
			t.Fatalf("event %s %+v", event.Type, event.Object)
		}
		got = append(got, o.ResourceVersion)
	}
	t.Errorf("the watch ended after %v", got)
}

// untilWithSync checks that a client that waits for a condition sees it come true, although the
// node that it watches is killed before.
func untilWithSync(ctx context.Context, t *testing.T, c *cluster.Cluster) {
	watched := onLeader(ctx, t, c).CoreV1().ConfigMaps(namespace)
	if _, err := watched.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "awaited"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return watched.List(ctx, options)
		},
		WatchFuncWithContext: watched.Watch,
	}
	synced, told := make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := watchtools.UntilWithSync(ctx, source, &corev1.ConfigMap{},
			func(cache.Store) (bool, error) { close(synced); return false, nil },
			func(event watch.Event) (bool, error) {
				o, ok := event.Object.(*corev1.ConfigMap)
				return ok && o.Name == "awaited" && o.Data["ready"] == "yes", nil
			})
		told <- err
	}()
	select {
	case <-synced:
	case err := <-told:
		t.Fatal(err)
	}
	if err := c.KillLeader(ctx, t); err != nil {
		t.Fatal(err)
	}
	if _, err := watched.Patch(ctx, "awaited", types.MergePatchType, []byte(`{"data":{"ready":"yes"}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := <-told; err != nil {
		t.Error(err)
	}
}
