package manager_test

import (
	"context"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	finalizer = "test.example.com/copied"
	// observed is the annotation of a source that names the value last reconciled, and of a copy
	// that names its value.
	observed = "test.example.com/observed"
)

// span is one reconciliation by a replica.
type span struct {
	replica     int
	began, over time.Time
}

// diary is what all replicas did.
type diary struct {
	mu        sync.Mutex
	spans     []span
	finalized int
}

// note records a reconciliation that began at the given time and is over now.
func (d *diary) note(replica int, began time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.spans = append(d.spans, span{replica, began, time.Now()})
}

func (d *diary) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.spans)
}

// copier keeps a Secret beside each source, a ConfigMap, that has its value; it notes the value on
// the source, whose finalizer it removes when the source is to go.
type copier struct {
	client.Client
	replica int
	diary   *diary
}

// Reconcile implements reconcile.Reconciler.
func (c *copier) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	defer c.diary.note(c.replica, time.Now())
	source := &corev1.ConfigMap{}
	if err := c.Get(ctx, request.NamespacedName, source); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	before := source.DeepCopy()
	if !source.DeletionTimestamp.IsZero() {
		if !controllerutil.RemoveFinalizer(source, finalizer) {
			return reconcile.Result{}, nil
		}
		err := c.Patch(ctx, source, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		if err == nil {
			c.diary.mu.Lock()
			c.diary.finalized++
			c.diary.mu.Unlock()
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if controllerutil.AddFinalizer(source, finalizer) {
		return reconcile.Result{}, c.Patch(ctx, source, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	}
	if err := c.copy(ctx, source); err != nil {
		return reconcile.Result{}, err
	}
	if source.Annotations[observed] == source.Data["value"] {
		return reconcile.Result{}, nil
	}
	metav1.SetMetaDataAnnotation(&source.ObjectMeta, observed, source.Data["value"])
	return reconcile.Result{}, client.IgnoreNotFound(c.Patch(ctx, source, client.StrategicMergeFrom(before)))
}

// copy makes or mends the Secret of a source. Only the metadata of Secrets is cached.
func (c *copier) copy(ctx context.Context, source *corev1.ConfigMap) error {
	wanted := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: source.Name, Namespace: source.Namespace, Annotations: map[string]string{observed: source.Data["value"]},
		},
		Data: map[string][]byte{"value": []byte(source.Data["value"])},
	}
	if err := controllerutil.SetControllerReference(source, wanted, c.Scheme()); err != nil {
		return err
	}
	there := &metav1.PartialObjectMetadata{}
	there.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	err := c.Get(ctx, client.ObjectKeyFromObject(source), there)
	switch {
	case apierrors.IsNotFound(err):
		return c.Create(ctx, wanted)
	case err != nil:
		return err
	case there.Annotations[observed] == source.Data["value"] && metav1.IsControlledBy(there, source):
		return nil
	}
	wanted.ResourceVersion = there.ResourceVersion
	return c.Update(ctx, wanted)
}

// watcher keeps the status of StatefulSets up to their generation.
type watcher struct {
	client.Client
	replica int
	diary   *diary
}

// Reconcile implements reconcile.Reconciler.
func (w *watcher) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	defer w.diary.note(w.replica, time.Now())
	set := &appsv1.StatefulSet{}
	if err := w.Get(ctx, request.NamespacedName, set); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	before := set.DeepCopy()
	set.Status.ObservedGeneration, set.Status.Replicas = set.Generation, *set.Spec.Replicas
	return reconcile.Result{}, w.Status().Patch(ctx, set, client.MergeFrom(before))
}
