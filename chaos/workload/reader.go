package workload

import (
	"context"
	"fmt"
	"net/url"

	"quorate/chaos/client"
	"quorate/chaos/history"
)

// lister lists all keys by quorum.
type lister struct{ worker }

func (l *lister) step(ctx context.Context) bool {
	_, listed := l.list(ctx)
	return listed
}

// list lists all keys by quorum, from any node, records it, and returns the version.
func (w *worker) list(ctx context.Context) (version uint64, listed bool) {
	op, c, found := w.ask(history.List, "")
	if !found {
		return 0, false
	}
	ctx, cancel := asking(ctx)
	defer cancel()
	page, outcome, err := c.Page(ctx, w.Namespace, "")
	op.Items, op.Version = itemsOf(page.Objects), page.Version
	return page.Version, w.read(op, outcome, err)
}

// pager lists all keys in pages, each from any node.
type pager struct{ worker }

// minPage and maxPage are the bounds of the page size of a list.
const minPage, maxPage = 5, 60

func (p *pager) step(ctx context.Context) bool {
	op, c, found := p.ask(history.PagedList, "")
	if !found {
		return false
	}
	limit := minPage + p.rand.IntN(maxPage-minPage)
	query := fmt.Sprintf("limit=%d", limit)
	node := op.Node
	for {
		page, outcome, err := p.page(ctx, c, query)
		switch {
		case outcome == client.Expired:
			p.Log.Warn("paged list expired", "client", p.number, "version", op.Version, "node", node, "answer", err)
			p.Recorder.Expired(history.Expiry{Node: node, At: p.Recorder.Now(), Text: fmt.Sprint(err)})
			return true
		case outcome != client.OK:
			return p.read(op, outcome, err)
		case op.Version != 0 && page.Version != op.Version:
			p.Recorder.Refused(fmt.Sprintf("a page of version %d after one of version %d", page.Version, op.Version))
			return true
		case len(page.Objects) > limit:
			p.Recorder.Refused(fmt.Sprintf("a page of %d objects, where %d were asked for", len(page.Objects), limit))
			return true
		}
		op.Version = page.Version
		op.Items = append(op.Items, itemsOf(page.Objects)...)
		if page.Next == "" {
			return p.read(op, client.OK, nil)
		}
		query = fmt.Sprintf("limit=%d&continue=%s", limit, url.QueryEscape(page.Next))
		target, found := p.Targets.pick(p.rand)
		if !found || p.limiter.Wait(ctx) != nil {
			return false // the run is over: half a list says nothing
		}
		node, c = target.Name, target.Client.Lane(p.number)
	}
}

func (p *pager) page(ctx context.Context, c *client.Client, query string) (client.Page, client.Outcome, error) {
	ctx, cancel := asking(ctx)
	defer cancel()
	return c.Page(ctx, p.Namespace, query)
}

// cachedReader reads the nodes' own states, with a separate client for each node.
type cachedReader struct {
	worker
	numbers map[*client.Client]int
}

const (
	// cachedSlots is the number of keys that a cached reader reads. It is small, so that each key
	// is read often.
	cachedSlots = 3
	// cachedListEvery is the number of cached reads between two cached lists.
	cachedListEvery = 20
)

func (r *cachedReader) step(ctx context.Context) bool {
	target, found := r.Targets.pick(r.rand)
	if !found {
		return false
	}
	if r.numbers[target.Client] == 0 {
		r.numbers[target.Client] = r.Load.number()
	}
	op := history.Op{Client: r.numbers[target.Client], Node: target.Name, Invoked: r.Recorder.Now()}
	ctx, cancel := asking(ctx)
	defer cancel()
	c := target.Client.Lane(op.Client)
	if r.rand.IntN(cachedListEvery) == 0 {
		op.Kind = history.CachedList
		page, outcome, err := c.Page(ctx, r.Namespace, "resourceVersion=0")
		op.Items, op.Version, op.Connection = itemsOf(page.Objects), page.Version, page.Connection
		return r.read(op, outcome, err)
	}
	op.Kind, op.Key = history.CachedGet, r.slots[(r.worker.number+r.rand.IntN(cachedSlots))%len(r.slots)].look()
	o, connection, outcome, err := c.CachedGet(ctx, r.Namespace, op.Key)
	op.Got, op.Connection = itemOf(o), connection
	return r.read(op, outcome, err)
}
