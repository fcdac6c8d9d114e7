package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"quorate/bench/measure"
	"quorate/bench/solo"
)

// resumeDelay is the least time between two attempts to resume, which doubles to eight times as
// much, as client-go's does.
const resumeDelay = 100 * time.Millisecond

// watcher follows one object through the death of a node.
type watcher struct {
	*failover
	number, node int
	version      string // of the last event
	seen         int    // the number that it had
	ready        func() // called once the first watch is open
	live         bool   // since the death of the node
}

// follow watches until ctx ends: on the same node as long as it serves, and then on others.
func (w *watcher) follow(ctx context.Context) {
	delay := resumeDelay
	for ctx.Err() == nil {
		opened := w.watch(ctx)
		if ctx.Err() != nil {
			return
		}
		if opened {
			delay = resumeDelay
		}
		w.node = (w.node + 1 + rand.IntN(len(w.clients)-1)) % len(w.clients)
		w.failover.mu.Lock()
		w.failover.moved++
		w.failover.mu.Unlock()
		if !opened && measure.Sleep(ctx, delay/2+rand.N(delay)) != nil {
			return
		}
		delay = min(2*delay, 8*resumeDelay)
	}
}

// watch resumes at the last version, and reads until the stream ends. It reports whether there was
// a stream.
func (w *watcher) watch(ctx context.Context) bool {
	clients := w.clients[w.node]
	resp, err := clients[w.number%len(clients)].Open(ctx, watching(followed+"?fieldSelector=metadata.name%3Dfollowed&resourceVersion="+w.version))
	if err != nil {
		w.refused(err)
		return false
	}
	defer resp.Body.Close()
	if w.ready != nil {
		w.ready()
		w.ready = nil
	}
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if !w.event(lines.Bytes()) {
			break
		}
	}
	return true
}

// refused notes an error of a request: 410 means that the watcher has to list anew.
func (w *watcher) refused(err error) {
	if e, ok := errors.AsType[*solo.CodeError](err); ok && e.Code == http.StatusGone {
		w.failover.mu.Lock()
		defer w.failover.mu.Unlock()
		w.relisted++
	}
}

// event checks an event, and reports whether the stream goes on.
func (w *watcher) event(line []byte) bool {
	if bytes.HasPrefix(line, []byte(`{"type":"ERROR"`)) {
		if bytes.Contains(line, []byte(`"code":410`)) {
			w.refused(&solo.CodeError{Code: http.StatusGone})
		}
		return false
	}
	version, ok := versionOf(line)
	_, rest, found := bytes.Cut(line, []byte(`"number":"`))
	digits, _, _ := bytes.Cut(rest, []byte(`"`))
	number, err := strconv.Atoi(string(digits))
	if !ok || !found || err != nil {
		w.fail(fmt.Errorf("an event that says nothing: %s", line))
		return false
	}
	if earlier, err := later(w.version, version); err != nil || !earlier {
		w.fail(fmt.Errorf("watcher %d: version %s after %s", w.number, version, w.version))
	}
	if number != w.seen && number != w.seen+1 {
		w.fail(fmt.Errorf("watcher %d: write %d after %d", w.number, number, w.seen))
	}
	w.version, w.seen = version, number
	w.note(number)
	return true
}

// later reports whether version b is later than a.
func later(a, b string) (bool, error) {
	x, err := strconv.ParseUint(a, 10, 64)
	if err != nil {
		return false, err
	}
	y, err := strconv.ParseUint(b, 10, 64)
	return x < y, err
}

// note notes that the watcher has received a write.
func (w *watcher) note(number int) {
	if w.live {
		return
	}
	f := w.failover
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.killed.IsZero() && number >= f.after && w.node != f.dead {
		w.live = true
		f.live = append(f.live, time.Since(f.killed))
		f.perNode[w.node]++
	}
}

func (w *watcher) fail(err error) {
	w.failover.mu.Lock()
	defer w.failover.mu.Unlock()
	if w.failure == nil {
		w.failure = err
	}
}
