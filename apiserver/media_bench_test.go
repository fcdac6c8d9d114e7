package apiserver_test

import (
	"fmt"
	"strings"
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

// TestListsAreStreamed: in every form a list is written in pieces whose size has nothing to do with
// its length.
func TestListsAreStreamed(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	fill(t, s, 500)
	for _, accept := range []string{
		"application/json", "application/yaml", "application/vnd.platform.protobuf", "application/json;pretty",
		"application/json;as=Table;v=v1;g=meta.k8s.io", "application/yaml;as=Table;v=v1;g=meta.k8s.io",
		"application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", "application/vnd.platform.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
	} {
		w := &chunks{sink: newSink()}
		path := "/api/v1/configmaps?resourceVersion=0"
		if accept == "application/json;pretty" {
			path += "&pretty=true"
		}
		s.Server.Handler().ServeHTTP(w, s.Request("GET", path, "", "Accept: "+accept))
		least := 500 << 10
		if strings.Contains(accept, ";as=") {
			least = 80 << 10
		}
		if w.code != 200 || w.bytes < least || w.largest > 80<<10 {
			t.Errorf("%s: code %d, %d bytes, the largest piece %d", accept, w.code, w.bytes, w.largest)
		}
	}
}

// TestListAllocations pins what a list in JSON costs in allocations, which has nothing to do with
// its length.
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

// ordinaryPod is one of the usual size.
func ordinaryPod(name string) string {
	const container = `{"name":"c%d","image":"registry.example/shop/web:1","env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],` +
		`"ports":[{"containerPort":80}],"volumeMounts":[{"name":"v","mountPath":"/d"}],"resources":{"limits":{"cpu":"1","memory":"1Gi"}}}`
	return fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"app":"web"}},"spec":{"volumes":[{"name":"v","emptyDir":{}}],"containers":[`+
		container+","+container+`]}}`, name, 1, 2)
}

// BenchmarkListTable lists 1,000 pods as kubectl and metadata clients do.
func BenchmarkListTable(b *testing.B) {
	s := testserver.Start(b, nil)
	for i := range 1000 {
		w := newSink()
		s.Server.Handler().ServeHTTP(w, s.Request("POST", "/api/v1/namespaces/default/pods", ordinaryPod(fmt.Sprintf("p-%d", i))))
		if w.code != 200 {
			b.Fatalf("code %d", w.code)
		}
	}
	const as = ";v=v1;g=meta.k8s.io"
	for name, accept := range map[string]string{
		"json": "application/json", "table": "application/json;as=Table" + as, "metadata": "application/json;as=PartialObjectMetadataList" + as,
		"protobuf-metadata": "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList" + as,
	} {
		b.Run(name, func(b *testing.B) {
			h, w := s.Server.Handler(), newSink()
			req := s.Request("GET", "/api/v1/pods?resourceVersion=0", "", "Accept: "+accept)
			b.ReportAllocs()
			for b.Loop() {
				w.reset()
				h.ServeHTTP(w, req)
			}
			if w.code != 200 || w.bytes < 100<<10 {
				b.Fatalf("code %d, %d bytes", w.code, w.bytes)
			}
		})
	}
}
