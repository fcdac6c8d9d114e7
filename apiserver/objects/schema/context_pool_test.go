package schema

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
)

// TestPooledContextsShareNothing validates objects of one kind at the same time: valid ones,
// invalid ones, each with a key of its own in its errors, some with more errors than are kept, and
// updates. Each must get the errors that follow from its own number.
func TestPooledContextsShareNothing(t *testing.T) {
	k := engine(t).Kind("/api/v1", "configmaps")
	old := decode(t, k, `{"metadata":{"namespace":"ns","name":"n","uid":"1"}}`)
	var work sync.WaitGroup
	for worker := range 8 {
		work.Go(func() {
			for round := range 200 {
				number := worker*1000 + round
				bad := round % 4
				if round%50 == 7 {
					bad = maxErrors + 5
				}
				var labels []string
				want := map[string]int{}
				for i := range bad {
					key := fmt.Sprintf("bad key %d of %d", i, number)
					labels = append(labels, fmt.Sprintf("%q:%q", key, "v"))
					want[key] = 1
				}
				o := decode(t, k, `{"metadata":{"namespace":"ns","name":"n","uid":"1","labels":{`+strings.Join(labels, ",")+`}}}`)
				errs := k.ValidateCreate(o)
				if worker%2 == 1 {
					errs = k.ValidateUpdate(Update, o, old)
				}
				got, surplusErrors := map[string]int{}, 0
				for _, e := range errs {
					if e == surplus {
						surplusErrors++
						continue
					}
					got[fmt.Sprint(e.BadValue)]++
				}
				if bad > maxErrors {
					if len(errs) != bad || surplusErrors != bad-maxErrors {
						t.Errorf("object %d: %d errors, %d of them surplus", number, len(errs), surplusErrors)
					}
					continue
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("object %d: errors for %v instead of %v", number, got, want)
				}
			}
		})
	}
	work.Wait()
}

// TestFreedContextRefersToNothing: a context in the pool keeps no object in memory.
func TestFreedContextRefersToNothing(t *testing.T) {
	k := engine(t).Kind("/api/v1", "configmaps")
	o := decode(t, k, `{"metadata":{"namespace":"ns","name":"n","labels":{"a b":"c"}},"data":{"k":"v"}}`)
	c := k.newContext(Create, o, o)
	c.validate()
	if len(c.errs) == 0 || c.space[0].name == "" {
		t.Fatalf("%d errors, and a first step to %q", len(c.errs), c.space[0].name)
	}
	c.free()
	if !reflect.ValueOf(c).Elem().IsZero() {
		t.Errorf("kept: %+v", c)
	}
}
