package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"
)

func (e *env) capacity() error {
	ns, err := e.namespace("cap-" + e.o.kind)
	if err != nil {
		return err
	}
	c := e.o.conc[0]
	step := e.o.target / e.o.steps
	if step < 1 {
		step = 1
	}
	path := e.coll(ns)
	var steps []map[string]any
	total := &Report{Scenario: "capacity", Size: e.kindSize(), Objects: e.o.target}
	var all []*worker
	before, self, t0 := e.pids.snapshot(), selfCPU(), time.Now()
	for done := 0; done < e.o.target; done += step {
		if time.Since(t0) > e.o.maxTime {
			break
		}
		r := &Report{Scenario: "capacity-step", Variant: fmt.Sprintf("to %d", done+step), Size: e.kindSize(), Objects: done + step}
		ws := e.measure(r, step, c, e.o.maxTime-time.Since(t0), func(ctx context.Context, w *worker, i int) error {
			return retry(ctx, func() error {
				_, err := w.do(ctx, "POST", path, ctJSON, body(e.o.kind, e.bodyNS(ns), fmt.Sprintf("cap-%s-%d", e.nonce, done+i), done+i, e.kindSize(), "", 0))
				return err
			})
		})
		all = append(all, ws...)
		steps = append(steps, map[string]any{"objects": done + step, "ops_per_s": r.OpsPerS, "procs": r.Procs})
		e.emit(r)
	}
	e.fill(total, all, time.Since(t0), before, self)
	total.Conc = c
	time.Sleep(5 * time.Second)
	total.Procs = delta(before, e.pids.snapshot())
	total.Extra = map[string]any{"steps": steps}
	for _, p := range total.Procs {
		total.Extra["rss_mib_after_5s_"+p.Name] = p.RSSMiB
	}
	e.emit(total)
	if !e.o.keep {
		return e.clear(e.ctx, ns)
	}
	return nil
}

// cleanup empties the namespaces that scenarios leave filled for reuse.
func (e *env) cleanup() error {
	w := e.c.worker(0)
	b, err := w.do(e.ctx, "GET", "/api/v1/namespaces", "", nil)
	if err != nil {
		return err
	}
	for _, n := range itemNames(bytes.Clone(b)) {
		if strings.HasPrefix(n, e.o.ns+"-") {
			for _, k := range []string{"configmaps", "pods"} {
				sv := e.o.kind
				e.o.kind = k
				err := e.clear(e.ctx, n)
				e.o.kind = sv
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}
