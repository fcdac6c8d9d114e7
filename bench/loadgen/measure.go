package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

type opFunc func(ctx context.Context, w *worker, i int) error

func (e *env) measure(r *Report, n, conc int, maxT time.Duration, op opFunc) []*worker {
	before := e.pids.snapshot()
	self := selfCPU()
	r.Load1 = load1()
	// No operation starts after maxT; operations in flight may finish, so that
	// long operations are not lost from the count.
	ctx, cancel := context.WithTimeout(e.ctx, maxT+60*time.Second)
	defer cancel()
	var next atomic.Int64
	ws := make([]*worker, conc)
	var wg sync.WaitGroup
	t0 := time.Now()
	stop := t0.Add(maxT)
	for g := range ws {
		w := e.c.worker(g)
		ws[g] = w
		wg.Add(1)
		go func() {
			defer wg.Done()
			for ctx.Err() == nil && time.Now().Before(stop) {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				t := time.Now()
				err := op(ctx, w, i)
				if err != nil {
					w.fail(err)
					if is(err, 429) {
						time.Sleep(10 * time.Millisecond)
					}
					continue
				}
				w.h.Add(time.Since(t))
				w.ops++
			}
		}()
	}
	wg.Wait()
	el := time.Since(t0)
	e.fill(r, ws, el, before, self)
	r.Conc = conc
	return ws
}

func (e *env) fill(r *Report, ws []*worker, el time.Duration, before []ProcStat, self float64) {
	var h Hist
	sub := map[string]*Hist{}
	var rx, tx int64
	for _, w := range ws {
		h.Merge(&w.h)
		rx += w.rx
		tx += w.tx
		r.Ops += w.ops
		for k, v := range w.errs {
			if r.Errors == nil {
				r.Errors = map[string]int{}
			}
			r.Errors[k] += v
		}
		if r.ErrSamp == "" {
			r.ErrSamp = w.sample
		}
		for k, v := range w.sub {
			if sub[k] == nil {
				sub[k] = &Hist{}
			}
			sub[k].Merge(v)
		}
		for k, v := range w.count {
			if r.Extra == nil {
				r.Extra = map[string]any{}
			}
			p, _ := r.Extra[k].(int64)
			r.Extra[k] = p + v
		}
	}
	for k, v := range sub {
		if r.Sub == nil {
			r.Sub = map[string]LatMS{}
		}
		r.Sub[k] = v.Summary()
	}
	s := el.Seconds()
	r.Seconds = float64(int(s*1e4)) / 1e4
	r.OpsPerS = float64(r.Ops) / s
	r.RxMBPerS = float64(rx) / s / 1e6
	r.TxMBPerS = float64(tx) / s / 1e6
	r.Lat = h.Summary()
	r.SelfCPU = selfCPU() - self
	if len(e.pids) > 0 {
		r.Procs = delta(before, e.pids.snapshot())
		var cpu float64
		for _, p := range r.Procs {
			cpu += p.CPUSec
		}
		if r.Ops > 0 {
			r.ServerUS = cpu * 1e6 / float64(r.Ops)
		}
	}
}

func (e *env) kindSize() int {
	if e.o.kind == "pods" {
		return 0
	}
	return e.o.size
}
