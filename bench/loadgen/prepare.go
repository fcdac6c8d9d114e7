package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

func (e *env) coll(ns string) string {
	p := e.o.prefix
	if e.o.kindPrefix != "" {
		p += "/" + strings.ReplaceAll(e.o.kindPrefix, "{ns}", ns)
	}
	return p + "/" + e.o.kind
}

func (e *env) watchPath(ns, rv string) string {
	if e.o.watchStyle == "path" {
		p := e.o.prefix + "/watch"
		if e.o.kindPrefix != "" {
			p += "/" + strings.ReplaceAll(e.o.kindPrefix, "{ns}", ns)
		}
		return p + "/" + e.o.kind + "?resourceVersion=" + rv
	}
	return e.coll(ns) + "?watch=true&resourceVersion=" + rv
}

func (e *env) bodyNS(ns string) string {
	if e.o.kindPrefix == "" {
		return "default"
	}
	return ns
}

func (e *env) namespace(suffix string) (string, error) {
	ns := e.o.ns + "-" + suffix
	if e.nsOK[ns] || !e.o.createNS || e.o.kindPrefix == "" {
		return ns, nil
	}
	w := e.c.worker(0)
	_, err := w.do(e.ctx, http.MethodPost, "/api/v1/namespaces", ctJSON,
		[]byte(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"`+ns+`"}}`))
	if err != nil && !is(err, 409) {
		return "", fmt.Errorf("namespace %s: %w", ns, err)
	}
	e.nsOK[ns] = true
	return ns, nil
}

func objName(i int) string { return fmt.Sprintf("obj-%07d", i) }

// retry calls f up to 30 times while a loaded server refuses it with 429, 503 or 504.
func retry(ctx context.Context, f func() error) error {
	var err error
	for k := 0; k < 30; k++ {
		if err = f(); err == nil || ctx.Err() != nil {
			return err
		}
		if !is(err, 429) && !is(err, 503) && !is(err, 504) {
			return err
		}
		time.Sleep(time.Duration(20*(k+1)) * time.Millisecond)
	}
	return err
}

// ensure makes ns hold objects 0..n-1 and no others. It clears the namespace and creates all of
// them unless the first and the last exist and no further one does.
func (e *env) ensure(ns string, n, size int) error {
	w := e.c.worker(0)
	_, err0 := w.do(e.ctx, "GET", e.coll(ns)+"/"+objName(0), "", nil)
	_, err1 := w.do(e.ctx, "GET", e.coll(ns)+"/"+objName(n-1), "", nil)
	_, err2 := w.do(e.ctx, "GET", e.coll(ns)+"/"+objName(n), "", nil)
	if err0 == nil && err1 == nil && is(err2, 404) {
		return nil
	}
	ctx, cancel := context.WithTimeout(e.ctx, 10*time.Minute)
	defer cancel()
	if err0 == nil {
		if err := e.clear(ctx, ns); err != nil {
			return err
		}
	}
	return parallel(32, n, func(g, i int) error {
		w := e.c.worker(g)
		return retry(ctx, func() error {
			_, err := w.do(ctx, "POST", e.coll(ns), ctJSON, body(e.o.kind, e.bodyNS(ns), objName(i), i, size, "", 0))
			if is(err, 409) {
				return nil
			}
			return err
		})
	})
}

func parallel(conc, n int, f func(g, i int) error) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	var mu sync.Mutex
	var first error
	for g := 0; g < conc; g++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := f(g, i); err != nil {
					mu.Lock()
					if first == nil {
						first = err
					}
					mu.Unlock()
					return
				}
			}
		}()
	}
	wg.Wait()
	return first
}

// clear deletes all objects of a collection.
func (e *env) clear(ctx context.Context, ns string) error {
	w := e.c.worker(0)
	q := "?gracePeriodSeconds=0"
	err := retry(ctx, func() error {
		_, err := w.do(ctx, "DELETE", e.coll(ns)+q, "", nil)
		return err
	})
	if err != nil && !is(err, 404) && !is(err, 405) && !is(err, 504) {
		return err
	}
	// Delete the rest one by one.
	for pass := 0; pass < 3; pass++ {
		b, err := w.do(ctx, "GET", e.coll(ns), "", nil)
		if err != nil {
			return err
		}
		ns1 := itemNames(b)
		if len(ns1) == 0 {
			return nil
		}
		if err := parallel(16, len(ns1), func(g, i int) error {
			w := e.c.worker(g)
			_, err := w.do(ctx, "DELETE", e.coll(ns)+"/"+ns1[i]+q, "", nil)
			if is(err, 404) {
				return nil
			}
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

func itemNames(b []byte) []string {
	var out []string
	a := member(b, "items")
	i := skipWS(a, 1)
	for i > 0 && i < len(a) && a[i] != ']' {
		j := skipValue(a, i)
		if j < 0 {
			break
		}
		if v := member(member(a[i:j], "metadata"), "name"); len(v) > 2 {
			out = append(out, unquote(v))
		}
		i = skipWS(a, j)
		if i < len(a) && a[i] == ',' {
			i = skipWS(a, i+1)
		}
	}
	return out
}
