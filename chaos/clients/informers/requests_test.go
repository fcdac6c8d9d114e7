package informers_test

import (
	"fmt"
	"net/http"
	"sync"
)

// maxTroubles bounds what is kept of requests that did not succeed.
const maxTroubles = 20

// requests is what one informer asked of the servers.
type requests struct {
	mu       sync.Mutex
	lists    int // lists, and watches that begin with the whole state
	watches  int // all other watches
	troubles []string
}

// wrap counts what passes through a client's transport; it goes into rest.Config.Wrap.
func (r *requests) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(req)
		r.mu.Lock()
		defer r.mu.Unlock()
		if q := req.URL.Query(); q.Get("watch") == "true" && q.Get("sendInitialEvents") != "true" {
			r.watches++
		} else {
			r.lists++
		}
		if len(r.troubles) < maxTroubles && err != nil {
			r.troubles = append(r.troubles, fmt.Sprintf("%s: %v", req.URL.RawQuery, err))
		} else if len(r.troubles) < maxTroubles && resp.StatusCode != http.StatusOK {
			r.troubles = append(r.troubles, fmt.Sprintf("%s: %s", req.URL.RawQuery, resp.Status))
		}
		return resp, err
	})
}

type roundTrip func(req *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// counts returns how many lists and other watches there were so far.
func (r *requests) counts() (lists, watches int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lists, r.watches
}

// told returns what went wrong so far.
func (r *requests) told() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.troubles...)
}
