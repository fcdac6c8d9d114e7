package apiserver_test

import (
	"testing"

	"quorate/apiserver/internal/testserver"
)

// chunks is a sink that knows the largest write.
type chunks struct {
	*sink
	largest int
}

func (c *chunks) Write(p []byte) (int, error) {
	c.largest = max(c.largest, len(p))
	return c.sink.Write(p)
}

// TestListsAreStreamed: in every form a list is written in pieces whose size has nothing to do with its length.
func TestListsAreStreamed(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	fill(t, s, 500)
	for _, accept := range []string{
		"application/json", "application/yaml", "application/vnd.platform.protobuf", "application/json;pretty",
	} {
		w := &chunks{sink: newSink()}
		path := "/api/v1/configmaps?resourceVersion=0"
		if accept == "application/json;pretty" {
			path += "&pretty=true"
		}
		s.Server.Handler().ServeHTTP(w, s.Request("GET", path, "", "Accept: "+accept))
		if w.code != 200 || w.bytes < 500<<10 || w.largest > 80<<10 {
			t.Errorf("%s: code %d, %d bytes, the largest piece %d", accept, w.code, w.bytes, w.largest)
		}
	}
}

// TestListAllocations pins what a list in JSON costs in allocations, which has nothing to do with its length.
func TestListAllocations(t *testing.T) {
	const most = 28
	s := testserver.Start(t, nil)
	fill(t, s, 500)
	h, w := s.Server.Handler(), newSink()
	req := s.Request("GET", "/api/v1/configmaps?resourceVersion=0", "", "Accept: application/json", "User-Agent: bench")
	if n := testing.AllocsPerRun(50, func() {
		w.reset()
		h.ServeHTTP(w, req)
	}); n > most || w.code != 200 {
		t.Errorf("%v allocations, code %d", n, w.code)
	}
}

// BenchmarkListForms lists 10,000 objects in the forms that are not stored.
func BenchmarkListForms(b *testing.B) {
	s := testserver.Start(b, nil)
	fill(b, s, 10000)
	for name, accept := range map[string]string{
		"protobuf": "application/vnd.platform.protobuf", "yaml": "application/yaml", "json": "application/json",
	} {
		b.Run(name, func(b *testing.B) {
			h, w := s.Server.Handler(), newSink()
			req := s.Request("GET", "/api/v1/namespaces/default/configmaps?resourceVersion=0", "", "Accept: "+accept)
			b.ReportAllocs()
			for b.Loop() {
				w.reset()
				h.ServeHTTP(w, req)
			}
			if w.code != 200 || w.bytes < 10<<20 {
				b.Fatalf("code %d, %d bytes", w.code, w.bytes)
			}
		})
	}
}

// BenchmarkGetForms reads one object in the forms that are not stored.
func BenchmarkGetForms(b *testing.B) {
	s := testserver.Start(b, nil)
	fill(b, s, 1)
	for name, accept := range map[string]string{
		"protobuf": "application/vnd.kubernetes.protobuf,application/json", "yaml": "application/yaml", "json": "application/json",
	} {
		b.Run(name, func(b *testing.B) {
			h, w := s.Server.Handler(), newSink()
			req := s.Request("GET", "/api/v1/namespaces/default/configmaps/obj-000000?resourceVersion=0", "", "Accept: "+accept)
			b.ReportAllocs()
			for b.Loop() {
				w.reset()
				h.ServeHTTP(w, req)
			}
			if w.code != 200 {
				b.Fatalf("code %d", w.code)
			}
		})
	}
}
