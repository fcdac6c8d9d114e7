package manager_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"quorate/chaos/nodes"
)

const sourceLabel = "test.example.com/source"

// load changes what the managers reconcile. It alone writes sources' values, so it knows what must
// come of them.
type load struct {
	client client.Client
	rand   *rand.Rand
	values map[string]string // of sources that are there
	gone   map[string]bool   // sources that were deleted
	scales map[string]int32  // of StatefulSets
	steps  int
}

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: namespace}
}

// fill creates the first sources and all StatefulSets.
func (l *load) fill(ctx context.Context, sources, sets int) error {
	for range sources {
		if err := l.create(ctx); err != nil {
			return err
		}
	}
	for i := range sets {
		name := "set-" + strconv.Itoa(i)
		labels := map[string]string{"app": name}
		set := &appsv1.StatefulSet{ObjectMeta: meta(name), Spec: appsv1.StatefulSetSpec{
			ServiceName: name, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "registry.example/web:1"}}},
			},
		}}
		if err := l.insist(ctx, func() error { return client.IgnoreAlreadyExists(l.client.Create(ctx, set.DeepCopy())) }); err != nil {
			return err
		}
		l.scales[name] = 1
	}
	return nil
}

// insist repeats a step, which may be done twice, until it is known to be done.
func (l *load) insist(ctx context.Context, step func() error) (err error) {
	waited := nodes.Await(ctx, func() bool {
		err = step()
		return err == nil
	})
	return errors.Join(waited, err)
}

// run changes one thing after another until ctx is done.
func (l *load) run(ctx context.Context, t *testing.T) {
	for ctx.Err() == nil {
		l.steps++
		step := l.change
		switch l.rand.IntN(10) {
		case 0:
			step = l.create
		case 1:
			step = l.remove
		case 2:
			step = l.removeCopy
		case 3:
			step = l.scale
		}
		// A step that was begun is finished, so that what must come of it is known.
		finishing, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		if err := step(finishing); err != nil {
			t.Error(err)
		}
		cancel()
	}
}

func (l *load) create(ctx context.Context) error {
	name := fmt.Sprintf("source-%d", len(l.values)+len(l.gone))
	source := &corev1.ConfigMap{ObjectMeta: meta(name), Data: map[string]string{"value": "first"}}
	source.Labels = map[string]string{sourceLabel: "yes"}
	l.values[name] = "first"
	return l.insist(ctx, func() error { return client.IgnoreAlreadyExists(l.client.Create(ctx, source.DeepCopy())) })
}

func (l *load) change(ctx context.Context) error {
	name, value := l.any(), strconv.Itoa(l.steps)
	l.values[name] = value
	return l.patch(ctx, &corev1.ConfigMap{ObjectMeta: meta(name)}, `{"data":{"value":"`+value+`"}}`)
}

func (l *load) remove(ctx context.Context) error {
	name := l.any()
	delete(l.values, name)
	l.gone[name] = true
	return l.delete(ctx, &corev1.ConfigMap{ObjectMeta: meta(name)})
}

// removeCopy deletes what the manager made; it must notice and make it again.
func (l *load) removeCopy(ctx context.Context) error {
	return l.delete(ctx, &corev1.Secret{ObjectMeta: meta(l.any())})
}

func (l *load) scale(ctx context.Context) error {
	name := "set-" + strconv.Itoa(l.rand.IntN(len(l.scales)))
	l.scales[name] = int32(l.steps)
	return l.patch(ctx, &appsv1.StatefulSet{ObjectMeta: meta(name)}, fmt.Sprintf(`{"spec":{"replicas":%d}}`, l.steps))
}

func (l *load) patch(ctx context.Context, o client.Object, patch string) error {
	return l.insist(ctx, func() error { return l.client.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(patch))) })
}

func (l *load) delete(ctx context.Context, o client.Object) error {
	return l.insist(ctx, func() error { return client.IgnoreNotFound(l.client.Delete(ctx, o)) })
}

// any is a source that is there.
func (l *load) any() string {
	for {
		name := fmt.Sprintf("source-%d", l.rand.IntN(len(l.values)+len(l.gone)))
		if !l.gone[name] {
			return name
		}
	}
}

// unreconciled returns what is not yet as it must be after the last change.
func (l *load) unreconciled(ctx context.Context) error {
	var errs []error
	for name, value := range l.values {
		source, made := &corev1.ConfigMap{}, &corev1.Secret{}
		if err := errors.Join(l.get(ctx, name, source), l.get(ctx, name, made)); err != nil {
			errs = append(errs, err)
		} else if source.Annotations[observed] != value || string(made.Data["value"]) != value || !metav1.IsControlledBy(made, source) {
			errs = append(errs, fmt.Errorf("%s: want %s: %+v, %+v", name, value, source, made))
		}
	}
	for name := range l.gone {
		for _, o := range []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}} {
			if err := l.get(ctx, name, o); !apierrors.IsNotFound(err) {
				errs = append(errs, fmt.Errorf("%T %s is still there: %w", o, name, err))
			}
		}
	}
	for name, replicas := range l.scales {
		set := &appsv1.StatefulSet{}
		if err := l.get(ctx, name, set); err != nil {
			errs = append(errs, err)
		} else if set.Status.ObservedGeneration != set.Generation || set.Status.Replicas != replicas {
			errs = append(errs, fmt.Errorf("%s: want %d replicas: %+v", name, replicas, set))
		}
	}
	const enough = 5
	return errors.Join(errs[:min(len(errs), enough)]...)
}

func (l *load) get(ctx context.Context, name string, o client.Object) error {
	return l.client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, o)
}
