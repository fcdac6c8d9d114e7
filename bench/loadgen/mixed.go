package main

import (
	"context"
	"fmt"
	"math/rand"
	"time"
)

func (e *env) mixed() error {
	ns, err := e.prepared()
	if err != nil {
		return err
	}
	for _, c := range e.o.conc {
		r := &Report{Scenario: "mixed", Variant: "90/5/5", Size: e.kindSize(), Objects: e.o.objects}
		rnd := make([]*rand.Rand, c)
		for i := range rnd {
			rnd[i] = rand.New(rand.NewSource(int64(i + 1)))
		}
		limit := e.o.limit
		e.measure(r, 10_000_000, c, e.o.duration, func(ctx context.Context, w *worker, i int) error {
			rr := rnd[w.id]
			k := rr.Intn(100)
			t := time.Now()
			var err error
			var h string
			switch {
			case k < 90:
				h = "get"
				_, err = w.do(ctx, "GET", e.coll(ns)+"/"+objName(rr.Intn(e.o.objects)), "", nil)
			case k < 95:
				h = "list_page"
				_, err = w.do(ctx, "GET", fmt.Sprintf("%s?limit=%d", e.coll(ns), limit), "", nil)
			default:
				h = "write"
				_, err = w.do(ctx, "PATCH", e.coll(ns)+"/"+objName(rr.Intn(e.o.objects)), ctMerge, mergeSeq(uniq.Add(1)))
			}
			if err == nil {
				w.hist(h).Add(time.Since(t))
			}
			return err
		})
		e.emit(r)
	}
	return nil
}
