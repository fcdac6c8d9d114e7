package informers_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"quorate/chaos/history"
)

// judgeFlavour returns a row of the table of results, and fails the test for each informer that is
// not right.
func judgeFlavour(t *testing.T, name string, all crowd, reference []history.Event, state map[string]*corev1.ConfigMap) string {
	t.Helper()
	var sum verdict
	var count, changes, resyncs, rewatches, relists, differing int
	for i, m := range all {
		if m.flavour != name {
			continue
		}
		v, err := compare(reference, m.record)
		if err != nil || v != (verdict{}) || len(m.record.strange) > 0 {
			t.Errorf("informer %d (%s): %+v, %v, %v", i, name, v, err, m.record.strange)
		}
		if err := sameState(m.informer.GetStore().List(), state); err != nil {
			differing++
			t.Errorf("the cache of informer %d (%s): %v", i, name, err)
		}
		lists, watches := m.requests.counts()
		if lists != m.lists {
			t.Errorf("informer %d (%s) listed anew %d times: %q", i, name, lists-m.lists, m.requests.told())
		}
		sum = sum.plus(v)
		count, changes, resyncs = count+1, changes+len(m.record.changes), resyncs+m.record.resyncs
		rewatches, relists = rewatches+watches-m.watches, relists+lists-m.lists
	}
	return fmt.Sprintf("%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d", name, count, changes, resyncs, rewatches, relists,
		sum.missed, sum.repeated, sum.disordered, sum.invented, differing)
}

func (v verdict) plus(o verdict) verdict {
	return verdict{v.missed + o.missed, v.repeated + o.repeated, v.disordered + o.disordered, v.invented + o.invented}
}

// sameState expects a cache to hold the state and nothing else.
func sameState(cached []any, state map[string]*corev1.ConfigMap) error {
	var errs []error
	for _, object := range cached {
		if err := sameObject(object, state); err != nil {
			errs = append(errs, err)
		}
	}
	if len(cached) != len(state) {
		errs = append(errs, fmt.Errorf("%d objects instead of %d", len(cached), len(state)))
	}
	const enough = 5
	return errors.Join(errs[:min(len(errs), enough)]...)
}

func sameObject(object any, state map[string]*corev1.ConfigMap) error {
	configMap, ok := object.(*corev1.ConfigMap)
	if u, untyped := object.(*unstructured.Unstructured); untyped {
		configMap = &corev1.ConfigMap{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, configMap); err != nil {
			return err
		}
	} else if !ok {
		return fmt.Errorf("%T in the cache", object)
	}
	want := state[configMap.Name]
	if want == nil || !reflect.DeepEqual(configMap.ObjectMeta, want.ObjectMeta) || !reflect.DeepEqual(configMap.Data, want.Data) {
		return fmt.Errorf("have %+v, want %+v", configMap, want)
	}
	return nil
}
