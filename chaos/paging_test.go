package chaos_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/nodes"
)

const (
	pagingNamespace = "paging"
	pagingObjects   = 10_000
	pagingLimit     = 500
	pagingWriters   = 6
	// creators is the number of concurrent creates.
	creators = 96
	// pagingStep limits a short step, and pagingFill the creation of all objects, on a machine that
	// is ten times slower than usual.
	pagingStep = time.Minute
	pagingFill = 5 * time.Minute
	// maxUnclear is the maximum number of objects that are not judged, because a write had an
	// unknown outcome before the node was killed.
	maxUnclear = pagingObjects / 100
)

// TestPagingSurvivesItsNode reads a list in pages while writers update and delete its objects. The
// leader serves the first half of the pages and is then killed. The other nodes serve the rest,
// whether or not they have elected a leader yet. All pages together must be exactly the state at
// the list's resourceVersion (C35, C37).
func TestPagingSurvivesItsNode(t *testing.T) {
	if testing.Short() {
		t.Skip("starts three servers and kills one")
	}
	fleet := newProcesses(t, buildServer(t))
	p := startPaging(t, fleet)
	p.createAll()
	stopWatching := p.watchDeletions()
	stopWriting := p.startWriters()
	defer stopWriting()

	pages := p.readPages()
	stopWriting()
	stopWatching()
	p.compare(pages)
}

// paging is the state of the test, with a record of acknowledged writes.
type paging struct {
	t       *testing.T
	fleet   *nodes.Processes
	clients []*client.Client // the last one is for the leader, which is killed
	leader  string

	mu        sync.Mutex
	record    map[string][]uint64 // versions of acknowledged creates and updates
	deletions map[string]uint64   // versions of deletions, from a watch on a node that is not killed
	unclear   map[string]bool     // objects with a write of unknown outcome
	unjudged  map[string]bool     // those of them from before the node was killed
	turns     [pagingWriters]atomic.Int64
}

func startPaging(t *testing.T, fleet *nodes.Processes) *paging {
	t.Helper()
	starting, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	credentials, err := fleet.StartAll(starting)
	if err != nil {
		t.Fatal(err)
	}
	p := &paging{t: t, fleet: fleet, record: map[string][]uint64{}, deletions: map[string]uint64{}, unclear: map[string]bool{}}
	all := map[string]*client.Client{}
	for _, node := range fleet.Nodes() {
		one, err := client.New(node.API, credentials)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(one.Close)
		all[node.Name] = one
	}
	members, err := all[fleet.Nodes()[0].Name].Members(starting)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range members {
		if m.Role == "leader" {
			p.leader = m.Name
		}
	}
	if p.leader == "" {
		t.Fatalf("there is no leader: %v", members)
	}
	for name, one := range all {
		if name != p.leader {
			p.clients = append(p.clients, one)
		}
	}
	p.clients = append(p.clients, all[p.leader])
	if outcome, err := p.clients[0].EnsureNamespace(starting, pagingNamespace); outcome != client.OK {
		t.Fatal(outcome, err)
	}
	return p
}

func (p *paging) within(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(p.t.Context(), d)
	p.t.Cleanup(cancel)
	return ctx
}

func objectName(i int) string { return fmt.Sprintf("object-%05d", i) }

func (p *paging) createAll() {
	p.t.Helper()
	var next atomic.Int64
	var all sync.WaitGroup
	ctx := p.within(pagingFill)
	for c := range creators {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < pagingObjects; i = int(next.Add(1)) - 1 {
				o, outcome, err := p.clients[c%len(p.clients)].Create(ctx, pagingNamespace, objectName(i), map[string]string{"n": "0"})
				if outcome != client.OK {
					p.t.Errorf("create %s: %v %v", objectName(i), outcome, err)
					return
				}
				p.acknowledged(o)
			}
		})
	}
	all.Wait()
	if p.t.Failed() {
		p.t.FailNow()
	}
}

func (p *paging) acknowledged(o client.Object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.record[o.Name] = append(p.record[o.Name], o.Version)
}

// watchDeletions records the versions of deletions from a watch on a node that is not killed,
// because the response to a deletion does not contain its version. The returned function waits
// until the watch has received all writes made before the call, and ends the watch.
func (p *paging) watchDeletions() (stop func()) {
	p.t.Helper()
	_, from, outcome, err := p.clients[0].List(p.within(pagingStep), pagingNamespace, "limit=1")
	if outcome != client.OK {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(p.t.Context())
	opened, last, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- p.clients[0].Watch(ctx, pagingNamespace, from, func() { close(opened) }, func(e client.Event) {
			if e.Type == "DELETED" {
				p.mu.Lock()
				p.deletions[e.Object.Name] = e.Version
				p.mu.Unlock()
			}
			if e.Object.Name == "last" {
				close(last)
			}
		})
	}()
	<-opened
	return func() {
		p.t.Helper()
		defer func() { <-ended }()
		defer cancel()
		limit := p.within(pagingStep)
		err := nodes.Await(limit, func() bool { // the cluster has to elect a leader first
			_, outcome, _ := p.clients[0].Create(limit, pagingNamespace, "last", nil)
			return outcome == client.OK || outcome == client.Conflict
		})
		if err != nil {
			p.t.Fatal(err)
		}
		select {
		case <-last:
		case <-limit.Done():
			p.t.Fatal("the watch saw no last write")
		}
	}
}

// startWriters starts writers that update and delete their own objects until they are stopped.
func (p *paging) startWriters() (stop func()) {
	ctx, cancel := context.WithCancel(p.t.Context())
	var all sync.WaitGroup
	for w := range pagingWriters {
		all.Go(func() { p.write(ctx, w) })
	}
	return func() {
		cancel()
		all.Wait()
	}
}

func (p *paging) write(ctx context.Context, w int) {
	random := rand.New(rand.NewPCG(seed, uint64(w)))
	at := w % len(p.clients)
	for n := 1; ctx.Err() == nil; n++ {
		name := objectName(random.IntN(pagingObjects/pagingWriters)*pagingWriters + w)
		if p.gone(name) {
			continue
		}
		outcome := p.writeOne(ctx, p.clients[at], name, n, random.IntN(4) == 0)
		if outcome != client.OK {
			p.mu.Lock()
			p.unclear[name] = true
			p.mu.Unlock()
			at = (at + 1) % len(p.clients)
		}
		p.turns[w].Add(1)
	}
}

// gone reports whether an object was deleted or cannot be judged any more.
func (p *paging) gone(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.record[name] == nil || p.unclear[name] || p.record[name][len(p.record[name])-1] == 0
}

func (p *paging) writeOne(ctx context.Context, c *client.Client, name string, n int, remove bool) client.Outcome {
	o, outcome, _ := c.Get(ctx, pagingNamespace, name)
	if outcome != client.OK {
		return outcome
	}
	if !remove {
		o.Data = map[string]string{"n": strconv.Itoa(n)}
		o, outcome, _ = c.Replace(ctx, pagingNamespace, o)
		if outcome == client.OK {
			p.acknowledged(o)
		}
		return outcome
	}
	if _, outcome, _ = c.Delete(ctx, pagingNamespace, o); outcome == client.OK {
		p.acknowledged(client.Object{Name: name}) // 0: the watch tells its version
	}
	return outcome
}

// readPages reads the list, half of it from the node that is then killed.
func (p *paging) readPages() (all client.Page) {
	p.t.Helper()
	p.awaitTurns(20)
	query := fmt.Sprintf("limit=%d", pagingLimit)
	at := len(p.clients) - 1
	for n := 1; ; n++ {
		page, outcome, err := p.clients[at].Page(p.within(pagingStep), pagingNamespace, query)
		if outcome != client.OK {
			p.t.Fatalf("page %d: %v %v", n, outcome, err)
		}
		if n > 1 && page.Version != all.Version {
			p.t.Fatalf("page %d is of version %d, the first of %d", n, page.Version, all.Version)
		}
		if len(page.Objects) > pagingLimit {
			p.t.Fatalf("page %d has %d objects", n, len(page.Objects))
		}
		all.Version = page.Version
		all.Objects = append(all.Objects, page.Objects...)
		if page.Next == "" {
			p.t.Logf("%d pages, %d objects", n, len(all.Objects))
			return all
		}
		query = fmt.Sprintf("limit=%d&continue=%s", pagingLimit, page.Next)
		switch {
		case n == pagingObjects/pagingLimit/2:
			p.kill()
			at = 0
		case n > pagingObjects/pagingLimit/2:
			at = n % (len(p.clients) - 1)
		}
	}
}

// kill kills the node that served the pages, after all writes in progress at the beginning of the
// list have been answered, so that all unknown outcomes up to the list's version are recorded.
func (p *paging) kill() {
	p.t.Helper()
	p.awaitTurns(2)
	p.mu.Lock()
	p.unjudged = maps.Clone(p.unclear)
	p.mu.Unlock()
	if len(p.unjudged) > maxUnclear {
		p.t.Fatalf("%d writes failed before a node was killed", len(p.unjudged))
	}
	if err := p.fleet.Kill(p.within(pagingStep), p.leader); err != nil {
		p.t.Fatal(err)
	}
}

// awaitTurns waits until each writer has made some more writes.
func (p *paging) awaitTurns(more int64) {
	p.t.Helper()
	for w := range p.turns {
		from := p.turns[w].Load()
		if err := nodes.Await(p.within(pagingStep), func() bool { return p.turns[w].Load() >= from+more }); err != nil {
			p.t.Fatal(err)
		}
	}
}

// compare holds the pages against the record, as of the list's version.
func (p *paging) compare(got client.Page) {
	p.t.Helper()
	read := map[string]uint64{}
	last := ""
	for _, o := range got.Objects {
		if o.Name <= last {
			p.t.Errorf("%s comes after %s", o.Name, last)
		}
		last = o.Name
		read[o.Name] = o.Version
	}
	deleted, updated := 0, 0
	for name, versions := range p.record {
		if p.unjudged[name] {
			delete(read, name)
			continue
		}
		want := uint64(0)
		for _, v := range versions {
			if v != 0 && v <= got.Version {
				want = v
			}
		}
		if d := p.deletions[name]; d != 0 && d <= got.Version {
			want = 0
			deleted++
		} else if want != versions[0] {
			updated++
		}
		if read[name] != want {
			p.t.Errorf("%s is read in version %d, want %d, as of %d: %v deleted %d", name, read[name], want, got.Version, versions,
				p.deletions[name])
		}
		delete(read, name)
	}
	for name, v := range read {
		p.t.Errorf("%s of version %d was never written", name, v)
	}
	p.t.Logf("as of %d: %d updated, %d deleted of %d", got.Version, updated, deleted, pagingObjects)
	if deleted == 0 || updated == 0 || len(p.deletions) == deleted {
		p.t.Error("nothing was written before or after the list began: this proves nothing")
	}
}
