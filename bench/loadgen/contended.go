package main

import (
	"context"
	"fmt"
	"math"
)

// maxConflicts bounds how often one operation is retried.
const maxConflicts = 10000

// NodeShare has the operations of the writers connected to one server, compared with those of all
// servers.
type NodeShare struct {
	Server  string `json:"server"`
	Writers int    `json:"writers"`
	Ops     int    `json:"ops"`
	// Share is the operations per writer, relative to the mean of all writers: 1 is an equal share.
	Share float64 `json:"share"`
	Lat   LatMS   `json:"lat_ms"`
}

// contended replaces one object with GET and PUT and retries after each 409. An operation lasts
// until its PUT succeeds.
func (e *env) contended() error {
	return e.onOneObject("update-contended", "one object", func(ctx context.Context, w *worker, path string) error {
		for range maxConflicts {
			err := e.getPut(ctx, w, path)
			if !is(err, 409) {
				return err
			}
			w.count["retries_409"]++
		}
		return fmt.Errorf("gave up after %d conflicts", maxConflicts)
	})
}

// patchContended patches one object without a resourceVersion: the server retries.
func (e *env) patchContended() error {
	return e.onOneObject("patch-contended", "merge", func(ctx context.Context, w *worker, path string) error {
		_, err := w.do(ctx, "PATCH", path, ctMerge, mergeSeq(uniq.Add(1)))
		return err
	})
}

func (e *env) onOneObject(scenario, variant string, op func(ctx context.Context, w *worker, path string) error) error {
	ns, err := e.namespace("contended")
	if err != nil {
		return err
	}
	if err := e.ensure(ns, 1, e.kindSize()); err != nil {
		return err
	}
	path := e.coll(ns) + "/" + objName(0)
	for _, c := range e.o.conc {
		r := &Report{Scenario: scenario, Variant: variant, Size: e.kindSize()}
		ws := e.measure(r, max(e.o.n/5, 100), c, e.o.maxTime, func(ctx context.Context, w *worker, i int) error {
			return op(ctx, w, path)
		})
		r.shares(ws)
		e.emit(r)
	}
	return nil
}

// shares reports how evenly the operations were spread over the servers that the writers are
// connected to.
func (r *Report) shares(ws []*worker) {
	at := make(map[string]int)
	var hists []*Hist
	for _, w := range ws {
		i, known := at[w.wl.base]
		if !known {
			i = len(r.Nodes)
			at[w.wl.base] = i
			r.Nodes = append(r.Nodes, NodeShare{Server: w.wl.base})
			hists = append(hists, &Hist{})
		}
		r.Nodes[i].Writers++
		r.Nodes[i].Ops += w.ops
		hists[i].Merge(&w.h)
	}
	least := math.Inf(1)
	for i := range r.Nodes {
		n := &r.Nodes[i]
		n.Lat = hists[i].Summary()
		if r.Ops > 0 {
			n.Share = float64(n.Ops) / float64(n.Writers) * float64(len(ws)) / float64(r.Ops)
		}
		least = min(least, n.Share)
	}
	if r.Extra == nil {
		r.Extra = map[string]any{}
	}
	r.Extra["min_share"] = least
	if n, _ := r.Extra["retries_409"].(int64); n > 0 && r.Ops > 0 {
		r.Extra["conflicts_per_op"] = float64(n) / float64(r.Ops)
	}
}
