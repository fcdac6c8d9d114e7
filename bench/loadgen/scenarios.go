package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
	"time"
)

const (
	ctJSON  = "application/json"
	ctMerge = "application/merge-patch+json"
)

var table = map[string]func(*env) error{
	"create":            (*env).create,
	"update":            (*env).update,
	"update-contended":  (*env).contended,
	"patch":             (*env).patch,
	"patch-contended":   (*env).patchContended,
	"get":               func(e *env) error { return e.get("quorum", "") },
	"get-rv0":           func(e *env) error { return e.get("rv0", "?resourceVersion=0") },
	"list":              func(e *env) error { return e.list("full", "") },
	"list-rv0":          func(e *env) error { return e.list("rv0", "resourceVersion=0") },
	"list-page":         func(e *env) error { return e.list("paged", "") },
	"list-selector":     func(e *env) error { return e.list("selector", "labelSelector=grp%3Dg7") },
	"list-selector-rv0": func(e *env) error { return e.list("selector-rv0", "resourceVersion=0&labelSelector=grp%3Dg7") },
	"watch-fanout":      (*env).fanout,
	"watch-resume":      (*env).resume,
	"mixed":             (*env).mixed,
	"delete":            (*env).del,
	"delete-collection": (*env).delCollection,
	"capacity":          (*env).capacity,
	"cleanup":           (*env).cleanup,
}

func names() []string {
	var s []string
	for k := range table {
		s = append(s, k)
	}
	sort.Strings(s)
	return s
}

func (e *env) scenario(s string) error {
	switch s {
	case "all":
		for _, k := range []string{"create", "update", "update-contended", "patch", "patch-contended", "get", "get-rv0",
			"list", "list-rv0", "list-page", "list-selector", "list-selector-rv0", "watch-fanout", "watch-resume", "mixed", "delete", "delete-collection"} {
			if err := e.scenario(k); err != nil {
				fmt.Fprintf(os.Stderr, "loadgen: %s: %v\n", k, err)
			}
		}
		return nil
	case "all-small":
		sv := e.o
		defer func() { e.o = sv }()
		e.o.n, e.o.objects, e.o.behind, e.o.fanObjects = 3000, 2000, 2000, 50
		e.o.maxTime, e.o.duration = 1500*time.Millisecond, 3*time.Second
		e.o.sizes, e.o.conc, e.o.watchers, e.o.rates = []int{1024}, []int{16}, []int{100}, []int{50}
		return e.scenario("all")
	}
	f := table[s]
	if f == nil {
		return fmt.Errorf("no such scenario; one of %s", strings.Join(names(), ", "))
	}
	return f(e)
}
