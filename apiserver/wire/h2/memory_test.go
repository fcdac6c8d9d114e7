package h2

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/net/http2"
)

// TestLongFieldNamesAreNotCached sends different field names of nearly the maximal length on
// several connections: the memory for cached names is bounded.
func TestLongFieldNamesAreNotCached(t *testing.T) {
	const (
		conns     = 8
		names     = maxCachedNames
		nameBytes = 62 << 10
		allowed   = 8 << 20 // the names have 31 MiB, and their canonical forms as much again
	)
	s := start(t, basicHandler())
	before := liveHeap()
	open := make([]*raw, conns)
	for i := range open {
		open[i] = dialRaw(t, s.addr, s.roots)
		for j := range names {
			name := fmt.Sprintf("x%d-%s", j, strings.Repeat("a", nameBytes))
			id := open[i].newID()
			block := open[i].encode(":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/", name, "v")
			open[i].blocks(id, block)
			if a := open[i].await(id); a.status != "200" {
				t.Fatalf("connection %d, name %d: status %s", i, j, a.status)
			}
		}
	}
	if grown := liveHeap() - before; grown > allowed {
		t.Errorf("%d MiB are kept for %d connections, want at most %d", grown>>20, conns, allowed>>20)
	}
}

// blocks sends a header block in as many frames as it needs, and the end of the request.
func (r *raw) blocks(id uint32, block []byte) {
	r.t.Helper()
	first := block[:min(len(block), maxFrameBytes)]
	rest := block[len(first):]
	r.must(r.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: first, EndHeaders: len(rest) == 0, EndStream: true}))
	for len(rest) > 0 {
		next := rest[:min(len(rest), maxFrameBytes)]
		rest = rest[len(next):]
		r.must(r.fr.WriteContinuation(id, len(rest) == 0, next))
	}
}

// liveHeap returns the size of the reachable heap.
func liveHeap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
