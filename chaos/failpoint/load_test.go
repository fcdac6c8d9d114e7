package failpoint_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"quorate/chaos/client"
)

const (
	namespace = "load"
	// writersPerNode is how many write at a time through each node.
	writersPerNode = 3
	// requestTimeout bounds a request, whose outcome is unknown then.
	requestTimeout = 5 * time.Second
	// refusedPause is how long a writer waits after nothing was done.
	refusedPause = 5 * time.Millisecond
)

// ledger is what was acknowledged to writers, each of which writes objects of its own.
type ledger struct {
	t *testing.T

	mu      sync.Mutex
	acked   map[string]client.Object // the last that was acknowledged, by name; guarded by mu
	maybe   map[string]string        // a value that may be stored, now or later; guarded by mu
	highest uint64                   // version in a response; guarded by mu
	writers int                      // so far; guarded by mu
	count   int                      // of acknowledged writes; guarded by mu
}

func newLedger(t *testing.T) *ledger {
	return &ledger{t: t, acked: map[string]client.Object{}, maybe: map[string]string{}}
}

// write writes through all clients until done says so.
func (l *ledger) write(done func() bool, clients ...*client.Client) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), patience)
	defer cancel()
	var wg sync.WaitGroup
	for _, c := range clients {
		for range writersPerNode {
			wg.Go(func() { l.writer(ctx, c) })
		}
	}
	for !done() && ctx.Err() == nil {
		time.Sleep(interval)
	}
	failed := !done()
	cancel()
	wg.Wait()
	if failed {
		l.t.Fatalf("waited %s for the writes to have an effect", patience)
	}
}

// some writes until that many further writes were acknowledged.
func (l *ledger) some(count int, clients ...*client.Client) {
	l.t.Helper()
	until := l.acknowledged() + count
	l.write(func() bool { return l.acknowledged() >= until }, clients...)
}

func (l *ledger) acknowledged() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

// writer creates an object, replaces it once and goes on with the next, and reads by quorum now and
// then.
func (l *ledger) writer(ctx context.Context, c *client.Client) {
	l.mu.Lock()
	l.writers++
	id := l.writers
	l.mu.Unlock()
	made := false // nobody may lead just now
	for !made && ctx.Err() == nil {
		l.attempt(ctx, func(ctx context.Context) (bool, error) {
			outcome, err := c.EnsureNamespace(ctx, namespace)
			made = outcome == client.OK
			return made, err
		})
	}
	for i := 0; ctx.Err() == nil; i++ {
		o := client.Object{Name: fmt.Sprintf("w%d-%d", id, i)}
		for round := range 2 {
			if !l.store(ctx, c, &o, fmt.Sprintf("%s-%d", o.Name, round)) {
				break
			}
		}
		if i%4 == 0 {
			l.attempt(ctx, func(ctx context.Context) (bool, error) {
				_, outcome, err := c.Get(ctx, namespace, o.Name)
				return outcome == client.OK || outcome == client.NotFound, err
			})
		}
	}
}

func (l *ledger) attempt(ctx context.Context, request func(ctx context.Context) (bool, error)) {
	bounded, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if ok, _ := request(bounded); !ok && ctx.Err() == nil { // the next one does
		time.Sleep(refusedPause)
	}
}

// store writes a value, and returns whether that was acknowledged. The object is then the one that
// was.
func (l *ledger) store(ctx context.Context, c *client.Client, o *client.Object, value string) bool {
	bounded, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var stored client.Object
	var outcome client.Outcome
	var err error
	data := map[string]string{"value": value}
	if o.Version == 0 {
		stored, outcome, err = c.Create(bounded, namespace, o.Name, data)
	} else {
		next := *o
		next.Data = data
		stored, outcome, err = c.Replace(bounded, namespace, next)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch outcome {
	case client.OK:
		if stored.Version <= o.Version {
			l.t.Errorf("%s went from version %d to %d", o.Name, o.Version, stored.Version)
		}
		*o = stored
		l.acked[o.Name] = stored
		l.highest = max(l.highest, stored.Version)
		l.count++
		return true
	case client.Unknown:
		l.maybe[o.Name] = value
	case client.Conflict, client.Refused, client.Expired:
		l.t.Errorf("write %s: %s: %v", o.Name, outcome, err)
	}
	if ctx.Err() == nil {
		time.Sleep(refusedPause)
	}
	return false
}

// verify reads everything by quorum: what was acknowledged must be there, and nothing that nobody
// wrote.
func (l *ledger) verify(c *client.Client) {
	l.t.Helper()
	var objects []client.Object
	var version uint64
	await(l.t, "a quorum read", func() bool {
		ctx, cancel := context.WithTimeout(l.t.Context(), requestTimeout)
		defer cancel()
		var outcome client.Outcome
		objects, version, outcome, _ = c.List(ctx, namespace, "")
		return outcome == client.OK
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	if version < l.highest {
		l.t.Errorf("a list has version %d after a response with %d", version, l.highest)
	}
	l.highest = version
	found := map[string]bool{}
	for _, o := range objects {
		found[o.Name] = true
		acked, known := l.acked[o.Name]
		value := o.Data["value"]
		maybe, doubtful := l.maybe[o.Name]
		switch {
		case known && o.Version == acked.Version && value == acked.Data["value"] && o.UID == acked.UID:
		case doubtful && value == maybe && o.Version > acked.Version && (!known || o.UID == acked.UID):
			l.acked[o.Name] = o // it was stored after all
			delete(l.maybe, o.Name)
		default:
			l.t.Errorf("%s is %q of version %d; acknowledged was %q of version %d, in doubt %q",
				o.Name, value, o.Version, acked.Data["value"], acked.Version, maybe)
		}
	}
	for name, acked := range l.acked {
		if !found[name] {
			l.t.Errorf("%s of version %d was acknowledged and is gone", name, acked.Version)
		}
	}
	if l.t.Failed() {
		l.t.FailNow()
	}
}
