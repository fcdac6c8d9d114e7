package main

import (
	"context"
	"fmt"
	"time"
)

func (e *env) create() error {
	sizes := e.o.sizes
	if e.o.kind == "pods" {
		sizes = []int{0}
	}
	for _, size := range sizes {
		for _, c := range e.o.conc {
			ns, err := e.namespace("create")
			if err != nil {
				return err
			}
			r := &Report{Scenario: "create", Size: size}
			pre := fmt.Sprintf("c-%s-%d-%d-", e.nonce, size, c)
			path := e.coll(ns)
			e.measure(r, e.o.n, c, e.o.maxTime, func(ctx context.Context, w *worker, i int) error {
				_, err := w.do(ctx, "POST", path, ctJSON, body(e.o.kind, e.bodyNS(ns), pre+fmt.Sprint(i), i, size, "", 0))
				return err
			})
			e.emit(r)
			if !e.o.keep {
				if err := e.clear(e.ctx, ns); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// prepared returns the namespace holding objects 0..objects-1.
func (e *env) prepared() (string, error) {
	ns, err := e.namespace(fmt.Sprintf("%s-%d-%d", e.o.kind, e.kindSize(), e.o.objects))
	if err != nil {
		return "", err
	}
	return ns, e.ensure(ns, e.o.objects, e.kindSize())
}

// setSeq returns a copy of an encoded object with another sequence number.
func setSeq(b []byte, n int64) ([]byte, bool) {
	v, off, ok := findStr(b, marker)
	if !ok {
		return nil, false
	}
	out := make([]byte, 0, len(b)+16)
	out = append(out, b[:off]...)
	out = append(out, seqStr(n)...)
	return append(out, b[off+len(v):]...), true
}

func (e *env) getPut(ctx context.Context, w *worker, path string) error {
	t := time.Now()
	b, err := w.do(ctx, "GET", path, "", nil)
	if err != nil {
		return err
	}
	t1 := time.Now()
	w.hist("get").Add(t1.Sub(t))
	nb, ok := setSeq(b, uniq.Add(1))
	if !ok {
		return fmt.Errorf("no %s annotation in the object read", marker)
	}
	_, err = w.do(ctx, "PUT", path, ctJSON, nb)
	if err == nil {
		w.hist("put").Add(time.Since(t1))
	}
	return err
}

func (e *env) update() error {
	ns, err := e.prepared()
	if err != nil {
		return err
	}
	for _, c := range e.o.conc {
		r := &Report{Scenario: "update", Variant: "distinct", Size: e.kindSize(), Objects: e.o.objects}
		// worker g owns the objects g, g+c, …: no two workers share an object.
		own := make([]int, c)
		e.measure(r, e.o.n, c, e.o.maxTime, func(ctx context.Context, w *worker, i int) error {
			k := w.id + own[w.id]*c
			if k >= e.o.objects {
				own[w.id] = 0
				k = w.id % e.o.objects
			}
			own[w.id]++
			return e.getPut(ctx, w, e.coll(ns)+"/"+objName(k))
		})
		e.emit(r)
	}
	return nil
}

func (e *env) patch() error {
	ns, err := e.prepared()
	if err != nil {
		return err
	}
	for _, c := range e.o.conc {
		r := &Report{Scenario: "patch", Variant: "merge", Size: e.kindSize(), Objects: e.o.objects}
		e.measure(r, e.o.n, c, e.o.maxTime, func(ctx context.Context, w *worker, i int) error {
			_, err := w.do(ctx, "PATCH", e.coll(ns)+"/"+objName(i%e.o.objects), ctMerge, mergeSeq(uniq.Add(1)))
			return err
		})
		e.emit(r)
	}
	return nil
}

func mergeSeq(n int64) []byte {
	return []byte(`{"metadata":{"annotations":{"` + marker + `":"` + seqStr(n) + `"}}}`)
}

func (e *env) del() error {
	ns, err := e.namespace("delete")
	if err != nil {
		return err
	}
	for _, c := range e.o.conc {
		if err := e.ensure(ns, e.o.n, e.kindSize()); err != nil {
			return err
		}
		r := &Report{Scenario: "delete", Size: e.kindSize()}
		e.measure(r, e.o.n, c, e.o.maxTime, func(ctx context.Context, w *worker, i int) error {
			_, err := w.do(ctx, "DELETE", e.coll(ns)+"/"+objName(i)+"?gracePeriodSeconds=0", "", nil)
			return err
		})
		e.emit(r)
		if err := e.clear(e.ctx, ns); err != nil {
			return err
		}
	}
	return nil
}

func (e *env) delCollection() error {
	ns, err := e.namespace("delcoll")
	if err != nil {
		return err
	}
	n := e.o.objects
	if err := e.ensure(ns, n, e.kindSize()); err != nil {
		return err
	}
	r := &Report{Scenario: "delete-collection", Size: e.kindSize(), Objects: n}
	e.measure(r, 1, 1, 5*time.Minute, func(ctx context.Context, w *worker, i int) error {
		_, err := w.do(ctx, "DELETE", e.coll(ns)+"?gracePeriodSeconds=0", "", nil)
		return err
	})
	r.Extra = map[string]any{"objects_per_s": float64(n) / r.Seconds}
	e.emit(r)
	return e.clear(e.ctx, ns)
}
