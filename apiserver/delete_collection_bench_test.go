package apiserver_test

import (
	"testing"

	"quorate/apiserver/internal/testserver"
)

// BenchmarkDeleteCollection deletes 5,000 ConfigMaps of 1 KiB with one request.
func BenchmarkDeleteCollection(b *testing.B) {
	const objects = 5000
	s := testserver.Start(b, nil)
	h := s.Server.Handler()
	for b.Loop() {
		b.StopTimer()
		fill(b, s, objects)
		w := newSink()
		req := s.Request("DELETE", "/api/v1/namespaces/default/configmaps", "")
		b.StartTimer()
		h.ServeHTTP(w, req)
		if w.code != 200 {
			b.Fatalf("code %d", w.code)
		}
	}
	b.ReportMetric(objects*float64(b.N)/b.Elapsed().Seconds(), "objects/s")
}
