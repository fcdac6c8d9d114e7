package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

type watcher struct {
	h        Hist
	seen     []uint64
	got      int64
	dup      int64
	ooo      int64
	bytes    int64
	err      error
	errEvent string
	lastRV   uint64
	lastSeq  map[string]int64
}

// fanout: W watchers on one collection, R writes a second for T seconds.
func (e *env) fanout() error {
	for k, W := range e.o.watchers {
		R := 10
		if k < len(e.o.rates) {
			R = e.o.rates[k]
		} else if len(e.o.rates) > 0 {
			R = e.o.rates[len(e.o.rates)-1]
		}
		if err := e.fanoutOne(W, R); err != nil {
			return err
		}
	}
	return nil
}

func (e *env) fanoutOne(W, R int) error {
	size := e.kindSize()
	O := e.o.fanObjects
	ns, err := e.namespace(fmt.Sprintf("fan-%s-%d-%d", e.o.kind, size, O))
	if err != nil {
		return err
	}
	if err := e.ensure(ns, O, size); err != nil {
		return err
	}
	rv, err := e.listRV(ns)
	if err != nil {
		return err
	}
	r := &Report{Scenario: "watch-fanout", Variant: fmt.Sprintf("W%d R%d", W, R), Size: size, Objects: O, Conc: W}
	T := e.o.duration
	maxSeq := int64(float64(R)*T.Seconds()) + 64
	if maxSeq > 10_000_000 {
		return errors.New("too many writes")
	}
	seq0 := uniq.Add(maxSeq+1) - maxSeq - 1 // this run's numbers: seq0+1 … seq0+maxSeq
	sent := make([]atomic.Int64, maxSeq+1)
	acked := make([]atomic.Bool, maxSeq+1)
	wctx, wcancel := context.WithCancel(e.ctx)
	defer wcancel()

	// Open the watches, 64 at a time.
	var ready, dead atomic.Int64
	var total atomic.Int64 // events that all watchers received
	watchers := make([]*watcher, W)
	sem := make(chan struct{}, 64)
	var wg sync.WaitGroup
	tOpen := time.Now()
	base := time.Now()
	for i := range watchers {
		wt := &watcher{seen: make([]uint64, maxSeq/64+1), lastSeq: map[string]int64{}}
		watchers[i] = wt
		wg.Add(1)
		go func() {
			defer wg.Done()
			sem <- struct{}{}
			octx := wctx
			rd, cl, err := e.openWatch(octx, i, ns, rv)
			<-sem
			if err != nil {
				wt.err = err
				dead.Add(1)
				return
			}
			defer cl.Close()
			ready.Add(1)
			for {
				b, err := rd.next()
				if err != nil {
					if wctx.Err() == nil {
						wt.err = err
						dead.Add(1)
					}
					return
				}
				now := int64(time.Since(base))
				if t := eventType(b); t != "MODIFIED" {
					if t == "ADDED" || t == "BOOKMARK" {
						continue
					}
					m := b
					if len(m) > 200 {
						m = m[:200]
					}
					wt.errEvent = string(m)
					dead.Add(1)
					return
				}
				v, _, ok := findStr(b, marker)
				if !ok {
					continue
				}
				s, _ := strconv.ParseInt(string(v), 10, 64)
				s -= seq0
				if s <= 0 || s > maxSeq {
					continue // a write of an earlier run
				}
				st := sent[s].Load()
				if st == 0 {
					continue
				}
				wt.bytes += int64(len(b)) + 1
				if wt.seen[s/64]&(1<<(s%64)) != 0 {
					wt.dup++
					continue
				}
				wt.seen[s/64] |= 1 << (s % 64)
				// Order: resourceVersion grows within a watch, and the writes
				// of one object arrive in the order they were made.
				if v, _, ok := findStr(b, "resourceVersion"); ok {
					if n, err := strconv.ParseUint(string(v), 10, 64); err == nil {
						if n <= wt.lastRV {
							wt.ooo++
						}
						wt.lastRV = n
					}
				}
				if v, _, ok := findStr(b, "name"); ok {
					if s <= wt.lastSeq[string(v)] {
						wt.ooo++
					}
					wt.lastSeq[string(v)] = s
				}
				wt.h.Add(time.Duration(now - st))
				wt.got++
				total.Add(1)
			}
		}()
	}
	for ready.Load()+dead.Load() < int64(W) && time.Since(tOpen) < 60*time.Second && e.ctx.Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
	openS := time.Since(tOpen).Seconds()
	opened := ready.Load()
	time.Sleep(300 * time.Millisecond)

	// Writers, paced; each owns its objects.
	before, self := e.pids.snapshot(), selfCPU()
	r.Load1 = load1()
	P := 16
	if P > R {
		P = R
	}
	if P > O {
		P = O
	}
	if P < 1 {
		P = 1
	}
	var seq atomic.Int64
	var wwg sync.WaitGroup
	ws := make([]*worker, P)
	var nAcked atomic.Int64
	t0 := time.Now()
	end := t0.Add(T)
	for g := 0; g < P; g++ {
		w := e.c.worker(g)
		ws[g] = w
		wwg.Add(1)
		go func() {
			defer wwg.Done()
			rvs := map[int]string{}
			gap := time.Duration(float64(time.Second) * float64(P) / float64(R))
			next := t0.Add(time.Duration(g) * gap / time.Duration(P))
			for k := 0; ; k++ {
				if !next.Before(end) {
					return
				}
				time.Sleep(time.Until(next))
				if !time.Now().Before(end) || e.ctx.Err() != nil {
					return
				}
				next = next.Add(gap)
				if d := time.Since(next); d > time.Second {
					next = time.Now() // far behind: skip writes instead of bursting
				}
				o := g + (k*P)%(O/P*P)
				s := seq.Add(1)
				if s > maxSeq {
					return
				}
				path := e.coll(ns) + "/" + objName(o)
				var b []byte
				var err error
				if e.o.kind == "pods" {
					sent[s].Store(int64(time.Since(base)))
					b, err = w.do(e.ctx, "PATCH", path, ctMerge, mergeSeq(seq0+s))
				} else {
					if rvs[o] == "" {
						if b, err = w.do(e.ctx, "GET", path, "", nil); err == nil {
							v, _, _ := findStr(b, "resourceVersion")
							rvs[o] = string(v)
						}
					}
					bd := body(e.o.kind, e.bodyNS(ns), objName(o), o, size, rvs[o], seq0+s)
					sent[s].Store(int64(time.Since(base)))
					b, err = w.do(e.ctx, "PUT", path, ctJSON, bd)
				}
				if err != nil {
					w.fail(err)
					rvs[o] = ""
					continue
				}
				acked[s].Store(true)
				nAcked.Add(1)
				v, _, _ := findStr(b, "resourceVersion")
				rvs[o] = string(v)
				w.hist("write").Add(time.Duration(int64(time.Since(base)) - sent[s].Load()))
			}
		}()
	}
	wwg.Wait()
	writeS := max(time.Since(t0).Seconds(), T.Seconds())
	// Wait until all watchers have all events, or none arrives for 3 s.
	last, lastAt := total.Load(), time.Now()
	for total.Load() < nAcked.Load()*opened && time.Since(lastAt) < 3*time.Second && time.Since(t0) < T+60*time.Second {
		time.Sleep(2 * time.Millisecond)
		if v := total.Load(); v != last {
			last, lastAt = v, time.Now()
		}
	}
	el := time.Since(t0)
	if total.Load() < nAcked.Load()*opened {
		el = lastAt.Sub(t0)
	}
	e.fill(r, ws, el, before, self)
	wcancel()
	wg.Wait()

	var h Hist
	var lost, dup, ooo, bts int64
	errEvents, sample := 0, ""
	for _, wt := range watchers {
		h.Merge(&wt.h)
		dup += wt.dup
		ooo += wt.ooo
		bts += wt.bytes
		if wt.err != nil || wt.errEvent != "" {
			errEvents++
			if sample == "" {
				sample = wt.errEvent
				if wt.err != nil {
					sample = wt.err.Error()
				}
			}
		}
		for s := int64(1); s <= maxSeq; s++ {
			if acked[s].Load() && wt.seen[s/64]&(1<<(s%64)) == 0 {
				lost++
			}
		}
	}
	r.Ops = int(total.Load())
	r.OpsPerS = float64(r.Ops) / el.Seconds()
	r.RxMBPerS = float64(bts) / el.Seconds() / 1e6
	r.Lat = h.Summary()
	if r.Ops > 0 {
		var cpu float64
		for _, p := range r.Procs {
			cpu += p.CPUSec
		}
		r.ServerUS = cpu * 1e6 / float64(r.Ops)
	}
	if r.Extra == nil {
		r.Extra = map[string]any{}
	}
	r.Extra["watchers_open"] = opened
	r.Extra["open_s"] = openS
	r.Extra["writes"] = nAcked.Load()
	r.Extra["writes_per_s"] = float64(nAcked.Load()) / writeS
	r.Extra["lost"] = lost
	r.Extra["dup"] = dup
	r.Extra["out_of_order"] = ooo
	r.Extra["watchers_broken"] = errEvents
	if sample != "" && r.ErrSamp == "" {
		r.ErrSamp = sample
	}
	e.emit(r)
	return nil
}

// resume: watches restarted from a resourceVersion K events old.
func (e *env) resume() error {
	size := e.kindSize()
	K := e.o.behind
	ns, err := e.namespace("resume")
	if err != nil {
		return err
	}
	if err := e.clear(e.ctx, ns); err != nil {
		return err
	}
	for _, c := range []int{1, 8} {
		rv, err := e.listRV(ns)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(e.ctx, 5*time.Minute)
		tw := time.Now()
		err = parallel(32, K, func(g, i int) error {
			w := e.c.worker(g)
			return retry(ctx, func() error {
				_, err := w.do(ctx, "POST", e.coll(ns), ctJSON, body(e.o.kind, e.bodyNS(ns), fmt.Sprintf("r-%s-%d-%d", e.nonce, c, i), i, size, "", 0))
				return err
			})
		})
		cancel()
		if err != nil {
			return err
		}
		wrote := time.Since(tw).Seconds()
		time.Sleep(200 * time.Millisecond)
		r := &Report{Scenario: "watch-resume", Variant: fmt.Sprintf("%d behind", K), Size: size}
		var events, bts atomic.Int64
		n := 5
		if c > 1 {
			n = 2 * c
		}
		e.measure(r, n, c, e.o.maxTime, func(ctx context.Context, w *worker, i int) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			t := time.Now()
			rd, cl, err := e.openWatch(ctx, i, ns, rv)
			if err != nil {
				return err
			}
			defer cl.Close()
			for k := 0; k < K; k++ {
				b, err := rd.next()
				if err != nil {
					return err
				}
				if k == 0 {
					w.hist("first_event").Add(time.Since(t))
					if t := eventType(b); t == "ERROR" {
						m := b
						if len(m) > 250 {
							m = m[:250]
						}
						return &statusError{410, string(m)}
					}
				}
				w.rx += int64(len(b)) + 1
				events.Add(1)
				bts.Add(int64(len(b)) + 1)
			}
			return nil
		})
		if r.Extra == nil {
			r.Extra = map[string]any{}
		}
		r.Extra["events_per_s"] = float64(events.Load()) / r.Seconds
		r.Extra["prepare_s"] = wrote
		e.emit(r)
	}
	if !e.o.keep {
		return e.clear(e.ctx, ns)
	}
	return nil
}
