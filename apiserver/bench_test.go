package apiserver_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quorate/apiserver"
	"quorate/apiserver/access/audit"
	"quorate/apiserver/internal/testserver"
)

// sink is a writer that costs next to nothing, so that what is measured is ours.
type sink struct {
	header http.Header
	code   int
	bytes  int
}

func newSink() *sink { return &sink{header: make(http.Header, 8)} }

func (s *sink) Header() http.Header               { return s.header }
func (s *sink) WriteHeader(code int)              { s.code = code }
func (s *sink) Flush()                            {}
func (s *sink) SetWriteDeadline(time.Time) error  { return nil }
func (s *sink) SetReadDeadline(time.Time) error   { return nil }
func (s *sink) Write(p []byte) (n int, err error) { s.bytes += len(p); return len(p), nil }
func (s *sink) reset()                            { clear(s.header); s.code, s.bytes = 0, 0 }

func kilobyte(name string, group int) string {
	return fmt.Sprintf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"%s","labels":{"app":"loadgen","grp":"g%d"},"annotations":{"seq":"1"}},"data":{"value":"%s"}}`,
		name, group, strings.Repeat("x", 1024))
}

func fill(tb testing.TB, s *testserver.Server, n int) {
	tb.Helper()
	fillWith(tb, s, n, 200, "/api/v1/namespaces/default/configmaps", kilobyte)
}

// fillWith creates n objects of a collection, each of which is answered with a code.
func fillWith(tb testing.TB, s *testserver.Server, n, code int, path string, object func(name string, group int) string) {
	tb.Helper()
	h := s.Server.Handler()
	jobs := make(chan int, n)
	for i := range n {
		jobs <- i
	}
	close(jobs)
	done := make(chan int, 64)
	for range 64 {
		go func() {
			failed := 0
			for i := range jobs {
				k := newSink()
				h.ServeHTTP(k, s.Request("POST", path, object(fmt.Sprintf("obj-%06d", i), i%100)))
				if k.code != code {
					failed++
				}
			}
			done <- failed
		}()
	}
	for range 64 {
		if failed := <-done; failed > 0 {
			tb.Fatalf("%d creates failed", failed)
		}
	}
}

// serve calls the handler as net/http would, again and again.
func serve(b *testing.B, s *testserver.Server, path string, wantBytes int) {
	b.Helper()
	h, w, req := s.Server.Handler(), newSink(), s.Request("GET", path, "", "Accept: application/json", "User-Agent: bench")
	b.ReportAllocs()
	for b.Loop() {
		w.reset()
		h.ServeHTTP(w, req)
	}
	if w.code != 200 || w.bytes < wantBytes {
		b.Fatalf("code %d, %d bytes", w.code, w.bytes)
	}
}

func BenchmarkGet(b *testing.B) {
	s := testserver.Start(b, nil)
	fill(b, s, 1000)
	b.Run("cached", func(b *testing.B) {
		serve(b, s, "/api/v1/namespaces/default/configmaps/obj-000500?resourceVersion=0", 1000)
	})
	b.Run("quorum", func(b *testing.B) {
		serve(b, s, "/api/v1/namespaces/default/configmaps/obj-000500", 1000)
	})
}

func BenchmarkList(b *testing.B) {
	s := testserver.Start(b, nil)
	fill(b, s, 10000)
	b.Run("10000", func(b *testing.B) {
		serve(b, s, "/api/v1/namespaces/default/configmaps?resourceVersion=0", 10<<20)
	})
	b.Run("10000/selector_1_percent", func(b *testing.B) {
		serve(b, s, "/api/v1/namespaces/default/configmaps?resourceVersion=0&labelSelector=grp%3Dg1", 100<<10)
	})
	b.Run("10000/selector_1_percent_in_pages", func(b *testing.B) {
		serve(b, s, "/api/v1/namespaces/default/configmaps?limit=500&labelSelector=grp%3Dg1", 100<<10)
	})
	b.Run("10000/page_of_500", func(b *testing.B) {
		serve(b, s, "/api/v1/namespaces/default/configmaps?limit=500", 512<<10)
	})
}

func BenchmarkCreate(b *testing.B) {
	create(b, testserver.Start(b, nil), "/api/v1/namespaces/default/configmaps", kilobyte)
}

// BenchmarkMergePatch changes an annotation of one of a thousand objects, 32 at a time.
func BenchmarkMergePatch(b *testing.B) {
	s := testserver.Start(b, nil)
	fill(b, s, 1000)
	h := s.Server.Handler()
	var n atomic.Int64
	b.ReportAllocs()
	b.SetParallelism(16)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			w, i := newSink(), n.Add(1)
			path := fmt.Sprintf("/api/v1/namespaces/default/configmaps/obj-%06d", i%1000)
			h.ServeHTTP(w, s.Request("PATCH", path, fmt.Sprintf(`{"metadata":{"annotations":{"seq":"%d"}}}`, i), mergePatch))
			if w.code != 200 {
				b.Errorf("code %d", w.code)
			}
		}
	})
}

// BenchmarkReplace stores one of a thousand objects anew, 32 at a time.
func BenchmarkReplace(b *testing.B) {
	s := testserver.Start(b, nil)
	fill(b, s, 1000)
	h := s.Server.Handler()
	var n atomic.Int64
	b.ReportAllocs()
	b.SetParallelism(16)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			w, i := newSink(), n.Add(1)
			name := fmt.Sprintf("obj-%06d", i%1000)
			body := strings.Replace(kilobyte(name, 1), `"seq":"1"`, fmt.Sprintf(`"seq":"%d"`, i), 1)
			h.ServeHTTP(w, s.Request("PUT", "/api/v1/namespaces/default/configmaps/"+name, body))
			if w.code != 200 {
				b.Errorf("code %d", w.code)
			}
		}
	})
}

// TestReadAllocations pins what one read of an object costs in allocations, everything of ours
// included.
func TestReadAllocations(t *testing.T) {
	s := testserver.Start(t, nil)
	fill(t, s, 1)
	h, w := s.Server.Handler(), newSink()
	for path, most := range map[string]float64{
		"/api/v1/namespaces/default/configmaps/obj-000000":                   8,
		"/api/v1/namespaces/default/configmaps/obj-000000?resourceVersion=0": 8,
	} {
		req := s.Request("GET", path, "", "Accept: application/json", "User-Agent: bench")
		if n := testing.AllocsPerRun(200, func() {
			w.reset()
			h.ServeHTTP(w, req)
		}); n > most || w.code != 200 {
			t.Errorf("%s: %v allocations, code %d", path, n, w.code)
		}
	}
}

// BenchmarkGetAudited is BenchmarkGet/cached with an audit policy: without an event, and with the
// two of the level Metadata.
func BenchmarkGetAudited(b *testing.B) {
	for _, level := range []string{"None", "Metadata"} {
		b.Run(level, func(b *testing.B) {
			policy, err := audit.ParsePolicy([]byte("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: " + level + "}]"))
			if err != nil {
				b.Fatal(err)
			}
			s := testserver.Start(b, func(cfg *apiserver.Config) { cfg.AuditPolicy, cfg.AuditSinks = policy, []io.Writer{io.Discard} })
			fill(b, s, 1000)
			serve(b, s, "/api/v1/namespaces/default/configmaps/obj-000500?resourceVersion=0", 1000)
		})
	}
}
