package apiserver_test

import (
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"quorate/apiserver/internal/testserver"
)

// TestEndedRequestsKeepNothing sends requests whose bodies arrive late to a server with many
// running timers, as watches have them for their bookmarks and their end. Among so many the runtime
// keeps those that are stopped, and what they refer to.
func TestEndedRequestsKeepNothing(t *testing.T) {
	// So many goroutines run on all threads, which have timers of their own.
	const goroutines, timers = 200, 1000
	var running sync.WaitGroup
	for range goroutines {
		running.Go(func() {
			var all [timers]*time.Timer
			for i := range all {
				longest := []time.Duration{time.Minute, time.Hour}[rand.IntN(2)]
				all[i] = time.AfterFunc(rand.N(longest), func() {})
			}
			t.Cleanup(func() {
				for _, timer := range all {
					timer.Stop()
				}
			})
		})
	}
	running.Wait()

	s := testserver.Start(t, nil)
	path := namespace(t, s, "late") + "?dryRun=All"
	const rounds, requests, most = 20, 100, 1500
	lateBodies(t, s, path, requests) // for what is made once
	before := liveHeap()
	for range rounds {
		lateBodies(t, s, path, requests)
	}
	kept := (liveHeap() - before) / (rounds * requests)
	t.Logf("%d bytes of each request are kept", kept)
	if kept > most {
		t.Errorf("want at most %d", most)
	}
}

// lateBodies creates objects. Their bodies arrive when all requests have begun.
func lateBodies(t *testing.T, s *testserver.Server, path string, requests int) {
	t.Helper()
	var all sync.WaitGroup
	defer all.Wait()
	bodies := make([]*io.PipeWriter, requests)
	for i := range bodies {
		body, w := io.Pipe()
		bodies[i] = w
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+s.Token)
		all.Go(func() {
			resp, err := s.Client.Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = resp.Body.Close() }()
			if answer, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
				t.Errorf("code %d, %v: %s", resp.StatusCode, err, answer)
			}
		})
	}
	half := strings.Index(configMap("a"), "metadata")
	for _, part := range []string{configMap("a")[:half], configMap("a")[half:]} {
		for _, w := range bodies {
			if _, err := io.WriteString(w, part); err != nil { // returns when the client has taken it
				t.Error(err)
			}
		}
	}
	for _, w := range bodies {
		_ = w.Close() // returns nil
	}
}
