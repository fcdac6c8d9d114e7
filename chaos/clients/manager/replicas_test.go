package manager_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"quorate/chaos/clients/internal/cluster"
)

// valueField is the index of sources by their value.
const valueField = "data.value"

// replica is one manager, which may be stopped and started anew.
type replica struct {
	id      int
	manager manager.Manager
	cancel  context.CancelFunc
	ended   chan error
}

// replicas are all managers of a test.
type replicas struct {
	cluster *cluster.Cluster
	diary   *diary
	mu      sync.Mutex
	running map[int]*replica
}

// start starts a replica whose clients prefer the node of the same number.
func (rs *replicas) start(ctx context.Context, t *testing.T, id int) {
	t.Helper()
	m, err := newManager(rs.cluster.Config(t, id), id, rs.diary)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &replica{id: id, manager: m, cancel: cancel, ended: make(chan error, 1)}
	go func() { r.ended <- m.Start(ctx) }()
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.running[id] = r
}

// stop stops a replica in order and waits until it has ended.
func (rs *replicas) stop(t *testing.T, id int) {
	t.Helper()
	rs.mu.Lock()
	r := rs.running[id]
	delete(rs.running, id)
	rs.mu.Unlock()
	r.cancel()
	if err := <-r.ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("replica %d: %v", id, err)
	}
}

// stopAll stops what still runs.
func (rs *replicas) stopAll(t *testing.T) {
	for id := range rs.running {
		rs.stop(t, id)
	}
}

// leader returns the replica that was elected.
func (rs *replicas) leader() (found *replica) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, r := range rs.running {
		select {
		case <-r.manager.Elected():
			found = r
		default:
		}
	}
	return found
}

// newManager makes a manager as a program would, but for what two in one process cannot share.
func newManager(cfg *rest.Config, id int, d *diary) (manager.Manager, error) {
	lease, renew, retry := 20*time.Second, 15*time.Second, 500*time.Millisecond
	sharedNames := true
	m, err := manager.New(cfg, manager.Options{
		Scheme: scheme.Scheme, Logger: logr.Discard(), Metrics: metricsserver.Options{BindAddress: "0"},
		Cache:          cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		Controller:     config.Controller{SkipNameValidation: &sharedNames, MaxConcurrentReconciles: 4},
		LeaderElection: true, LeaderElectionID: "copier", LeaderElectionNamespace: namespace, LeaderElectionReleaseOnCancel: true,
		LeaseDuration: &lease, RenewDeadline: &renew, RetryPeriod: &retry,
	})
	if err != nil {
		return nil, err
	}
	err = m.GetFieldIndexer().IndexField(context.Background(), &corev1.ConfigMap{}, valueField, func(o client.Object) []string {
		return []string{o.(*corev1.ConfigMap).Data["value"]}
	})
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	isSource := predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetLabels()[sourceLabel] != "" })
	err = builder.ControllerManagedBy(m).Named("copier").
		For(&corev1.ConfigMap{}, builder.WithPredicates(isSource)).
		Owns(&corev1.Secret{}, builder.OnlyMetadata).
		Complete(&copier{m.GetClient(), id, d})
	if err != nil {
		return nil, err
	}
	return m, builder.ControllerManagedBy(m).
		For(&appsv1.StatefulSet{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Complete(&watcher{m.GetClient(), id, d})
}
