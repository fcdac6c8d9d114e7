package h2

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// TestWriterYields: the writer lets other goroutines run before it writes if other handlers of its
// connection may add frames, and otherwise writes at once.
func TestWriterYields(t *testing.T) { // not parallel: it sets GOMAXPROCS
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for running, want := range map[int]bool{0: false, 1: false, 2: true} {
		c := &conn{running: running}
		var ran atomic.Bool
		ended := make(chan struct{})
		c.mu.Lock()
		go func() { ran.Store(true); close(ended) }()
		c.letHandlersAdd()
		if got := ran.Load(); got != want {
			t.Errorf("another goroutine ran: %v, with %d handlers; want %v", got, running, want)
		}
		c.mu.Unlock()
		<-ended
	}
}
