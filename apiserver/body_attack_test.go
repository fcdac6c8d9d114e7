package apiserver_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"quorate/apiserver"
	"quorate/apiserver/internal/testserver"
)

// slowBody sends a part of a body. It breaks off when end is closed.
type slowBody struct {
	sent io.Reader
	end  <-chan struct{}
}

func (b slowBody) Read(p []byte) (int, error) {
	n, err := b.sent.Read(p)
	if err == io.EOF {
		<-b.end
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// TestBodiesThatDoNotArrive announces bodies and sends some of each, from a client for each or over
// one connection. What they take is charged, and others write meanwhile, also on that connection.
func TestBodiesThatDoNotArrive(t *testing.T) {
	const bodies, large, small = 85, 3 << 20, 16 << 10
	for _, tc := range []struct {
		name            string
		announced, sent int
		least, most     int64 // of the budget that is used
		refused         bool  // some get 429
		together        bool  // over the connection of the others
	}{
		{"nothing is sent", large, 0, 0, bodies * 64 << 10, false, false},
		{"the beginning is sent", large, 1000, bodies * 1000, bodies * 64 << 10, false, false},
		{"all but a byte is sent", large, large - 1, 32 << 20, 64 << 20, true, false},
		{"all but a byte of small ones is sent", small, small - 1, bodies * small, bodies * small, false, false},
		{"the same over one connection", small, small - 1, bodies * small, bodies * small, false, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := testserver.Start(t, nil)
			allow(t, s, "default", "eve", "create", "configmaps")
			ctx, cancel := context.WithCancel(t.Context())
			end := make(chan struct{})
			var answered sync.Map // of codes
			var wg sync.WaitGroup
			for i := range bodies {
				client := s.Client
				if !tc.together {
					client = s.NewClient()
				}
				wg.Go(func() {
					body := slowBody{strings.NewReader(strings.Repeat(" ", tc.sent)), end}
					req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/api/v1/namespaces/default/configmaps", body)
					if err != nil {
						t.Error(err)
						return
					}
					req.ContentLength = int64(tc.announced)
					req.Header.Set("Authorization", "Bearer "+s.IssueToken("eve"))
					if resp, err := client.Do(req); err == nil {
						answered.Store(i, resp.StatusCode)
						_ = resp.Body.Close() // the code is all that counts
					}
				})
			}
			defer wg.Wait()
			defer close(end)
			defer cancel()
			s.Eventually("the bodies are under way", func() bool {
				refused := 0
				answered.Range(func(_, code any) bool {
					if code != http.StatusTooManyRequests {
						t.Errorf("a body that is not complete got %v", code)
					}
					refused++
					return true
				})
				return gauge(t, s, "quorate_apiserver_requests_in_flight") >= float64(bodies-refused) &&
					tc.refused == (refused > 0)
			})
			s.Eventually("what has arrived is charged", func() bool {
				return gauge(t, s, "quorate_apiserver_body_bytes") >= float64(tc.least)
			})
			if used := gauge(t, s, "quorate_apiserver_body_bytes"); used > float64(tc.most) {
				t.Errorf("the bodies use %.0f bytes of the budget, want at most %d", used, tc.most)
			}
			honest := fmt.Sprintf(`{"metadata":{"name":"large"},"data":{"a":%q}}`, strings.Repeat("a", 1<<20))
			check(t, s.Do("POST", "/api/v1/namespaces/default/configmaps", honest), want{code: 200})
			check(t, s.Do("POST", "/api/v1/namespaces/default/configmaps", configMap("small")), want{code: 200})
			answered.Range(func(_, code any) bool {
				if code != http.StatusTooManyRequests {
					t.Errorf("a body that is not complete got %v before the others' requests were answered", code)
				}
				return true
			})
		})
	}
}

// TestBodiesOfAllSizes: bodies arrive whole with and without a length, and leave nothing charged.
func TestBodiesOfAllSizes(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, func(cfg *apiserver.Config) { cfg.Limits.BodyBytes = 4 << 20 })
	const path = "/api/v1/namespaces/default/configmaps?dryRun=All"
	for _, tc := range []struct{ size, code int }{
		{100, 200}, {64 << 10, 200}, {64<<10 + 1, 200}, {200 << 10, 200}, {1 << 20, 200}, {3 << 20, 422}, {3<<20 + 1, 413},
	} {
		const head, tail = `{"metadata":{"name":"x"},"data":{"a":"`, `"}}`
		body := head + strings.Repeat("a", tc.size-len(head)-len(tail)) + tail
		check(t, s.Do("POST", path, body), want{code: tc.code})
		unknown := s.Request("POST", path, "")
		unknown.Body, unknown.ContentLength = io.NopCloser(strings.NewReader(body)), -1
		resp, err := s.Client.Do(unknown)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close() // the code is all that counts
		if resp.StatusCode != tc.code {
			t.Errorf("a body of %d bytes without a length: %d, want %d", tc.size, resp.StatusCode, tc.code)
		}
	}
	s.Eventually("nothing is charged", func() bool {
		return gauge(t, s, "quorate_apiserver_body_bytes") == 0 && gauge(t, s, "quorate_apiserver_decoding_bytes") == 0
	})
}
