package rest

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"quorate/apiserver/limit"
	"quorate/apiserver/objects/selector"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/rest/paging"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/status"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// cachedPinWait is how long a list that does not require a leader waits for one to pin its state on
// all nodes. With a pinned state, its pages survive this node.
const cachedPinWait = 500 * time.Millisecond

// Pages retains the states that paged lists read.
type Pages interface {
	// Pin returns a linearizable state that all nodes retain for a while.
	Pin(ctx context.Context) (*state.Root, error)
	// Retain retains a state on this node only.
	Retain(root *state.Root)
	// Retained returns a state that this node retains, or nil.
	Retained(index uint64) *state.Root
	// FetchRetained fetches a page of a state that only other nodes retain.
	FetchRetained(ctx context.Context, p raftstore.Page) (*raftstore.RemotePage, error)
}

// page is the content of one response to a list.
type page struct {
	index     uint64
	items     iter.Seq2[*state.Object, error]
	once      bool   // items can be iterated only once
	expected  int    // upper bound of the number of items
	next      string // continue value; "" on the last page
	remaining int    // number of items after this page; 0 if unknown (C36)
}

// settle reads the items into memory if they can be iterated only once.
func (p *page) settle() error {
	if !p.once {
		return nil
	}
	var objects []*state.Object
	for o, err := range p.items {
		if err != nil {
			return err
		}
		objects = append(objects, o)
	}
	p.items, p.once = each(objects), false
	return nil
}

// whole returns a list as a single page.
func (r *resource) whole(ctx context.Context, root *state.Root, namespace string, sel *selector.Selector) *page {
	return &page{
		index:    root.Index(),
		expected: root.Count(stored.Prefix(r.kind, namespace)),
		items: func(yield func(*state.Object, error) bool) {
			err := r.walk(ctx, root, namespace, sel, func(o *state.Object) bool { return yield(o, nil) })
			if err != nil {
				yield(nil, err)
			}
		},
	}
}

// pager serves one request of a paged list.
type pager struct {
	*resource
	opts *listOptions
	sel  *selector.Selector
	call *route.Call
}

// page returns one page of a list.
func (r *resource) page(ctx context.Context, c *route.Call, opts *listOptions, sel *selector.Selector) (*page, error) {
	opts.query.Resource, opts.query.Namespace = r.kind.Prefix+"/"+r.kind.Plural, c.Namespace
	l := &pager{resource: r, opts: opts, sel: sel, call: c}
	switch {
	case opts.continued != "":
		return l.following(ctx)
	case opts.exact:
		return l.exactly(ctx)
	default:
		return l.first(ctx)
	}
}

// first returns the first page of a list. It pins the state only if there is another page, because
// a pin costs a log entry.
func (l *pager) first(ctx context.Context) (*page, error) {
	root, pinned, err := l.firstState(ctx)
	if err != nil {
		return nil, err
	}
	src := l.local(ctx, root, l.call.Namespace, l.sel, "")
	s, err := takePage(src, l.sel, l.opts.limit)
	if err != nil {
		return nil, err
	}
	if s.more && !pinned {
		if root, err = l.retain(ctx, root); err != nil {
			return nil, err
		}
		src = l.local(ctx, root, l.call.Namespace, l.sel, "")
		if s, err = takePage(src, l.sel, l.opts.limit); err != nil {
			return nil, err
		}
	}
	return l.newPage(root.ClusterID(), src, s, l.call.Now), nil
}

// linearizable reports whether the list must include all writes acknowledged before it (C20).
func (l *pager) linearizable() bool { return l.opts.version == "" && l.quorumRead }

// firstState returns the state of the list. If a linearizable list certainly has a second page,
// firstState pins a state at once, which also confirms it.
func (l *pager) firstState(ctx context.Context) (root *state.Root, pinned bool, err error) {
	if l.linearizable() && l.sel == nil {
		root, err = l.store.View(ctx, raftstore.Cached())
		if err != nil {
			return nil, false, err
		}
		if root.Count(stored.Prefix(l.kind, l.call.Namespace)) > l.opts.limit {
			root, err = l.store.Pin(ctx)
			return root, true, err
		}
	}
	root, err = l.state(l.call, l.opts.version)
	return root, false, err
}

// retain returns a state that is retained for the following pages and at least as new as root. All
// nodes retain it. A linearizable list fails if the state cannot be pinned. For other lists, if no
// leader pins a state within cachedPinWait, retain retains root on this node only, so that the
// following pages are lost when this process ends.
func (l *pager) retain(ctx context.Context, root *state.Root) (*state.Root, error) {
	if l.linearizable() {
		return l.store.Pin(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, cachedPinWait)
	defer cancel()
	if pinned, err := l.store.Pin(ctx); err == nil && pinned.Index() >= root.Index() {
		return pinned, nil
	}
	l.store.Retain(root)
	return root, nil
}

// following returns a later page from the state of the first one (C35). It returns a 410 error if
// that state is no longer retained or the continue value belongs to another list (C37, C38).
func (l *pager) following(ctx context.Context) (*page, error) {
	root, err := present(ctx, l.store)
	if err != nil {
		return nil, err
	}
	l.opts.query.ClusterID = root.ClusterID()
	at, err := l.continued.Decode(l.opts.continued, &l.opts.query, l.call.Now)
	if err != nil {
		return nil, limit.Carry(err, status.NewExpiredContinue())
	}
	after := state.Key(stored.Prefix(l.kind, l.call.Namespace)) + state.Key(at.After)
	src, err := l.retained(ctx, at.Index, after)
	switch {
	case errors.Is(err, raftstore.ErrNotRetained):
		return nil, status.NewExpiredContinue()
	case err != nil:
		return nil, err
	}
	return l.pageOf(ctx, root.ClusterID(), src, at.Began)
}

// exactly returns a list at exactly the requested version (C25, C26).
func (l *pager) exactly(ctx context.Context) (*page, error) {
	index, err := versionOf(l.opts.version)
	if err != nil {
		return nil, err
	}
	root, err := l.state(l.call, l.opts.version)
	if err != nil {
		return nil, err
	}
	if same := root.At(index); same != nil {
		if l.opts.limit > 0 {
			l.store.Retain(same)
		}
		return l.pageOf(ctx, root.ClusterID(), l.local(ctx, same, l.call.Namespace, l.sel, ""), l.call.Now)
	}
	src, err := l.retained(ctx, index, "")
	switch {
	case errors.Is(err, raftstore.ErrNotRetained):
		return nil, status.NewTooOldList()
	case err != nil:
		return nil, err
	}
	return l.pageOf(ctx, root.ClusterID(), src, l.call.Now)
}

// retained returns the objects of a retained state. It fetches them from another node if this node
// does not retain the state, or does not have it yet.
func (l *pager) retained(ctx context.Context, index uint64, after state.Key) (source, error) {
	waiting, cancel := context.WithTimeout(ctx, futureWait)
	defer cancel()
	if _, err := l.store.View(waiting, raftstore.AtLeast(index)); err != nil && !isFuture(err) {
		return source{}, err
	}
	if root := l.store.Retained(index); root != nil {
		return l.local(ctx, root, l.call.Namespace, l.sel, after), nil
	}
	asked := raftstore.Page{
		Index: index, Prefix: stored.Prefix(l.kind, l.narrowed(l.call.Namespace, l.sel)), After: after,
	}
	if l.sel == nil && l.opts.limit > 0 {
		asked.Limit = l.opts.limit + 1
	}
	found, err := l.store.FetchRetained(ctx, asked)
	if err != nil {
		return source{}, err
	}
	return source{index: index, left: found.Left, remote: true, objects: found.Objects}, nil
}

func isFuture(err error) bool {
	_, future := errors.AsType[*raftstore.Future](err)
	return future
}

// pageOf returns a page with the first objects of a source, or with all of them if there is no
// limit (C40).
func (l *pager) pageOf(ctx context.Context, clusterID string, src source, began time.Time) (*page, error) {
	if l.opts.limit == 0 {
		return &page{index: src.index, expected: src.left, once: src.remote, items: selected(src, l.sel)}, nil
	}
	s, err := takePage(src, l.sel, l.opts.limit)
	if err != nil {
		return nil, err
	}
	return l.newPage(clusterID, src, s, began), nil
}

// newPage returns the page of a slice, with a continue value for the objects after the slice. The
// next page can be empty if the source is only a part of the collection, and the selector selects
// nothing of the rest (C31).
func (l *pager) newPage(clusterID string, src source, s slice, began time.Time) *page {
	p := &page{index: src.index, expected: len(s.objects), items: each(s.objects)}
	if !s.more {
		return p
	}
	l.opts.query.ClusterID = clusterID
	p.next = l.continued.Encode(paging.Position{
		Index: src.index, Began: began,
		After: strings.TrimPrefix(string(s.last), string(stored.Prefix(l.kind, l.call.Namespace))),
	}, &l.opts.query)
	if l.opts.query.Labels == "" && l.opts.query.Fields == "" {
		p.remaining = src.left - s.passed
	}
	return p
}

func each(objects []*state.Object) iter.Seq2[*state.Object, error] {
	return func(yield func(*state.Object, error) bool) {
		for _, o := range objects {
			if !yield(o, nil) {
				return
			}
		}
	}
}

func selected(src source, sel *selector.Selector) iter.Seq2[*state.Object, error] {
	return func(yield func(*state.Object, error) bool) {
		for o, err := range src.objects {
			if (err != nil || sel.Matches(o)) && !yield(o, err) {
				return
			}
		}
	}
}
