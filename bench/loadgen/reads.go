package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

func (e *env) get(variant, q string) error {
	ns, err := e.prepared()
	if err != nil {
		return err
	}
	for _, c := range e.o.conc {
		r := &Report{Scenario: "get", Variant: variant, Size: e.kindSize(), Objects: e.o.objects}
		e.measure(r, 2*e.o.n, c, e.o.maxTime, func(ctx context.Context, w *worker, i int) error {
			_, err := w.do(ctx, "GET", e.coll(ns)+"/"+objName((i*7919)%e.o.objects)+q, "", nil)
			return err
		})
		e.emit(r)
	}
	return nil
}

// page walks a collection in pages and returns the items counted.
func (e *env) page(ctx context.Context, w *worker, path string, limit int, count bool) (int, int, error) {
	cont, items, pages := "", 0, 0
	for {
		p := fmt.Sprintf("%s?limit=%d", path, limit)
		if cont != "" {
			p += "&continue=" + escape(cont)
		}
		t := time.Now()
		b, err := w.do(ctx, "GET", p, "", nil)
		if err != nil {
			return items, pages, err
		}
		w.hist("page").Add(time.Since(t))
		pages++
		if count {
			items += countItems(b)
		}
		if _, cont = listMeta(b); cont == "" {
			return items, pages, nil
		}
		if pages > 100000 {
			return items, pages, fmt.Errorf("too many pages")
		}
	}
}

func escape(s string) string {
	var sb strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' {
			sb.WriteByte(c)
		} else {
			fmt.Fprintf(&sb, "%%%02X", c)
		}
	}
	return sb.String()
}

func (e *env) list(variant, q string) error {
	ns, err := e.prepared()
	if err != nil {
		return err
	}
	path := e.coll(ns)
	want := e.o.objects
	if strings.HasPrefix(variant, "selector") {
		want = (e.o.objects - 8 + 100) / 100
	}
	// One unmeasured pass checks the response and warms up the server.
	w := e.c.worker(0)
	got := 0
	bytesOne := 0
	if variant == "paged" {
		got, _, err = e.page(e.ctx, w, path, e.o.limit, true)
		bytesOne = int(w.rx)
	} else {
		var b []byte
		b, err = w.do(e.ctx, "GET", path+"?"+q, "", nil)
		got, bytesOne = countItems(b), len(b)
	}
	if err != nil {
		return err
	}
	concs := []int{1, 8}
	n := 40
	if variant == "selector" || variant == "selector-rv0" {
		n = 200
	}
	for _, c := range concs {
		r := &Report{Scenario: "list", Variant: variant, Size: e.kindSize(), Objects: e.o.objects}
		t := e.o.maxTime
		if t > 15*time.Second {
			t = 15 * time.Second
		}
		e.measure(r, n, c, t, func(ctx context.Context, w *worker, i int) error {
			if variant == "paged" {
				_, _, err := e.page(ctx, w, path, e.o.limit, false)
				return err
			}
			_, err := w.do(ctx, "GET", path+"?"+q, "", nil)
			if err == nil {
				w.hist("first_byte").Add(w.ttfb)
			}
			return err
		})
		if r.Extra == nil {
			r.Extra = map[string]any{}
		}
		r.Extra["items"] = got
		r.Extra["body_mb"] = float64(bytesOne) / 1e6
		r.Extra["items_per_s"] = r.OpsPerS * float64(got)
		if got != want {
			r.Extra["WRONG_ITEMS_want"] = want
		}
		e.emit(r)
	}
	return nil
}
