package apiserver

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/status"
	"quorate/raftstore"
)

// check is one condition that health depends on.
type check struct {
	name string
	run  func() error
}

// health answers for /livez, /readyz and /healthz (semantics L13, L14). They need no credentials
// and do not say why a check fails, except to administrators.
type health struct {
	live, ready []check
	alarms      func() []raftstore.Alarm
	draining    atomic.Bool
}

func newHealth(store Store, thirdParties, access, admission func() error) *health {
	h := &health{alarms: store.Alarms}
	ping := check{"ping", func() error { return nil }}
	h.live = []check{ping}
	h.ready = []check{
		ping,
		{"store", store.Ready},
		{"third-party-resources", thirdParties}, // after the store, whose state it compares with
		{"roles", access},
		{"webhooks", admission},
		{"shutdown", func() error {
			if h.draining.Load() {
				return errors.New("the server is shutting down")
			}
			return nil
		}},
	}
	return h
}

func (h *health) register(add func(method, path string, e *route.Endpoint)) {
	for path, checks := range map[string][]check{"/livez": h.live, "/readyz": h.ready, "/healthz": h.ready} {
		serve := func(c *route.Call) error { return h.answer(c, strings.TrimPrefix(path, "/"), checks) }
		add(http.MethodGet, path, &route.Endpoint{Verb: route.VerbGet, Serve: serve, Class: route.ClassExempt})
		add(http.MethodGet, path+"/:name", &route.Endpoint{Verb: route.VerbGet, Serve: serve, Class: route.ClassExempt})
	}
}

// answer runs all checks, or the one that the path names, except those that the query excludes. It
// returns 500 if one fails. The report of all checks also lists the active alarms, which fail no
// check: a node without space still serves reads, and only an operator can decide which node of a
// diverged cluster is right. A stalled disk, however, fails the check of the store.
func (h *health) answer(c *route.Call, group string, checks []check) error {
	if c.Name != "" {
		i := slices.IndexFunc(checks, func(k check) bool { return k.name == c.Name })
		if i < 0 {
			return status.NewNoRoute()
		}
		checks = checks[i : i+1]
	}
	excluded := c.Query().All("exclude")
	var report strings.Builder
	administrator := c.Voluntary != nil && c.Voluntary.In(auth.MastersGroup)
	failed := false
	for _, k := range checks {
		if slices.Contains(excluded, k.name) {
			fmt.Fprintf(&report, "[+]%s excluded: ok\n", k.name)
			continue
		}
		err := k.run()
		switch {
		case err == nil:
			fmt.Fprintf(&report, "[+]%s ok\n", k.name)
		case administrator:
			failed = true
			fmt.Fprintf(&report, "[-]%s failed: %s\n", k.name, err)
		default:
			failed = true
			fmt.Fprintf(&report, "[-]%s failed: reason withheld\n", k.name)
		}
	}
	if c.Name == "" {
		report.WriteString(raised(h.alarms()))
	}
	return writeHealth(c, group, report.String(), failed)
}

// raised returns a line for each name of an alarm.
func raised(alarms []raftstore.Alarm) string {
	var lines strings.Builder
	for i, a := range alarms {
		if i == 0 || a.Name != alarms[i-1].Name { // they are ordered by name
			fmt.Fprintf(&lines, "[!]alarm %s raised\n", a.Name)
		}
	}
	return lines.String()
}

func writeHealth(c *route.Call, group, report string, failed bool) error {
	h := c.W.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	code, text := http.StatusOK, "ok"
	switch {
	case failed:
		code, text = http.StatusInternalServerError, report+group+" check failed\n"
	case c.Query().Has("verbose"):
		text = report + group + " check passed\n"
	}
	c.W.WriteHeader(code)
	// A client that has disconnected is not an error of the server.
	_, _ = c.W.Write([]byte(text))
	return nil
}
