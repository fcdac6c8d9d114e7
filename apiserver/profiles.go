package apiserver

import (
	"net/http"
	"net/http/pprof"

	"quorate/apiserver/admin"
	"quorate/apiserver/rest/route"
)

// registerProfiles adds Go's profiles under /debug/pprof, for administrators: `go tool pprof` takes
// them from a live node.
func registerProfiles(add func(method, path string, e *route.Endpoint)) {
	handlers := map[string]http.Handler{"profile": http.HandlerFunc(pprof.Profile), "trace": http.HandlerFunc(pprof.Trace)}
	for _, name := range []string{"allocs", "block", "goroutine", "heap", "mutex", "threadcreate"} {
		handlers[name] = pprof.Handler(name)
	}
	for name, handler := range handlers {
		add(http.MethodGet, "/debug/pprof/"+name, &route.Endpoint{
			Verb: "profile", Subject: admin.Subject(), Class: route.ClassRead,
			Serve: func(c *route.Call) error {
				handler.ServeHTTP(c.W, c.R)
				return nil
			},
		})
	}
}
