package rest

import (
	"context"
	"math/rand/v2"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/access/budget"
	"quorate/apiserver/objects/selector"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/rest/watch"
	"quorate/apiserver/wire/status"
	"quorate/raftstore/state"
)

// minWatchTimeout is the minimum duration of a stream without a timeout in the request. The maximum
// is twice that (D29).
const minWatchTimeout = 30 * time.Minute

// watchOptions are the parameters of a watch.
type watchOptions struct {
	version   string
	after     uint64
	selector  *selector.Selector
	bookmarks bool
	initial   bool // sendInitialEvents=true: begin with the current objects
	changes   bool // sendInitialEvents=false: send changes only
	timeout   time.Duration
}

// watch streams the changes of a collection, or of one of its objects (D).
func (r *resource) watch(c *route.Call) error {
	as, err := r.representStream(c)
	if err != nil {
		return err
	}
	opts, err := r.watchOptions(c)
	if err != nil {
		return err
	}
	kind, encoder, head := r.streamed(&as)
	markRow := ""
	if as.rows != nil && opts.initial {
		if markRow, err = as.rows.MarkRow(c.Now); err != nil {
			return err
		}
	}
	held, drop, err := r.holdSelector(c, opts.selector)
	if err != nil {
		return err
	}
	opts.selector = held
	stream, err := r.streams.Begin(c.R.Context(), c.W, watch.Options{
		Projection: watch.Projection{Kind: kind, Form: as.form, Encoder: encoder, Table: head, Selector: opts.selector},
		Sender:     watch.Sender{User: c.Sender, Address: c.R.RemoteAddr},
		Statuses:   c.Statuses,
		Bookmarks:  opts.bookmarks,
		Timeout:    opts.timeout,
		Credential: c.Credential(),
		End:        r.end,
		Header:     func() error { return c.StreamHeader(as.form) },
		Start: func(ctx context.Context) (watch.Start, error) {
			defer c.Forget()
			start, err := r.watchStart(ctx, c, opts)
			start.MarkRow = markRow
			return start, err
		},
		Started: c.Seat.Leave,
		Ended:   drop,
		Faults:  c,
	})
	if err != nil {
		drop()
		return err
	}
	if stream != nil {
		c.Next = stream
	}
	return nil
}

func (r *resource) watchOptions(c *route.Call) (*watchOptions, error) {
	q := c.Query()
	opts := &watchOptions{version: q.Get("resourceVersion"), timeout: minWatchTimeout + rand.N(minWatchTimeout)}
	var err error
	if opts.version != "" {
		if opts.after, err = strconv.ParseUint(opts.version, 10, 64); err != nil { // 422 unless a number (D15)
			return nil, status.NewInvalidOption("ListOptions",
				field.Invalid(field.NewPath("resourceVersion"), opts.version, "must be a decimal number"))
		}
	}
	if q.Get("continue") != "" { // a watch has no pages (D17)
		return nil, status.NewBadRequest("continue is not supported with watch")
	}
	if opts.bookmarks, err = q.Bool("allowWatchBookmarks"); err != nil {
		return nil, err
	}
	if _, err = q.Bool("includeUninitialized"); err != nil {
		return nil, err
	}
	if err = opts.readInitial(q); err != nil {
		return nil, err
	}
	if err = opts.readTimeout(q); err != nil {
		return nil, err
	}
	opts.selector, err = r.watchSelector(c)
	return opts, err
}

// readTimeout reads timeoutSeconds, and timeout, which may be shorter (D28, D30).
func (o *watchOptions) readTimeout(q route.Query) error {
	seconds, err := q.TimeoutSeconds()
	if err != nil {
		return err
	}
	if seconds > 0 {
		o.timeout = min(seconds, 2*minWatchTimeout)
	}
	asked, err := q.Timeout()
	if asked > 0 {
		o.timeout = min(o.timeout, asked)
	}
	return err
}

// readInitial reads sendInitialEvents. It requires resourceVersionMatch=NotOlderThan, which in turn
// is only valid with it (D18, D26).
func (o *watchOptions) readInitial(q route.Query) error {
	match := q.Get("resourceVersionMatch")
	path := field.NewPath("resourceVersionMatch")
	if !q.Has("sendInitialEvents") {
		if match != "" {
			return status.NewInvalidOption("ListOptions",
				field.Forbidden(path, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"))
		}
		return nil
	}
	var err error
	if o.initial, err = q.Bool("sendInitialEvents"); err != nil {
		return err
	}
	o.changes = !o.initial
	if match != matchNotOlderThan {
		return status.NewInvalidOption("ListOptions",
			field.Forbidden(path, `sendInitialEvents requires setting resourceVersionMatch to "NotOlderThan"`))
	}
	return nil
}

// watchSelector adds the name in the path, if any, to the selector (D32).
func (r *resource) watchSelector(c *route.Call) (*selector.Selector, error) {
	sel, err := r.selector(c)
	if err != nil || c.Name == "" {
		return sel, err
	}
	named, ok := selector.Named(sel, c.Name)
	if !ok {
		return nil, status.NewBadRequest("the field selector contradicts the name " + strconv.Quote(c.Name) + " of the path")
	}
	return named, nil
}

// holdSelector returns the value of a selector that all watches with an equal one share, until drop
// is called. The sender of the first of these watches is charged for its memory.
func (r *resource) holdSelector(c *route.Call, s *selector.Selector) (shared *selector.Selector, drop func(), err error) {
	return r.selectors.Hold(s, func(bytes int64) (func(), error) {
		holding := r.selectorBytes.Hold(c.Sender.Name, "")
		if bound, ok := holding.Take(bytes); !ok {
			return nil, status.NewLimitReached(fullSelectors(bound), 1)
		}
		return holding.Release, nil
	})
}

func fullSelectors(bound budget.Bound) string {
	whose := "all watches"
	if bound == budget.User {
		whose = "your watches"
	}
	return "the selectors of " + whose + " take as much memory as they may (selector-bytes)"
}

// watchStart returns the position and the objects with which a stream begins. With resourceVersion
// N the stream begins after the changes up to N; with 0, with the current objects of this node;
// without a version, with the oldest objects that history provides (D9–D11, Z8). With
// sendInitialEvents=true it begins with the objects of a state as fresh as that of a list. With
// sendInitialEvents=false it begins without objects: after N, or else after such a state (D26).
func (r *resource) watchStart(ctx context.Context, c *route.Call, opts *watchOptions) (watch.Start, error) {
	prefix, user := stored.Prefix(r.kind, c.Namespace), c.Sender.Name
	switch {
	case opts.initial, opts.changes && opts.after == 0:
		root, err := r.state(c, opts.version)
		if err != nil {
			return watch.Start{}, err
		}
		if opts.changes {
			changes, err := r.store.WatchFor(user, prefix, root.Index())
			return watch.Start{After: root.Index(), Changes: changes}, err
		}
		return r.startFrom(ctx, root, c, opts, opts.bookmarks)
	case opts.version == "":
		return r.startFromBeginning(ctx, user, prefix)
	case opts.after == 0:
		root, err := present(ctx, r.store)
		if err != nil {
			return watch.Start{}, err
		}
		return r.startFrom(ctx, root, c, opts, false)
	}
	changes, err := r.store.WatchFor(user, prefix, opts.after)
	return watch.Start{After: opts.after, Changes: changes}, err
}

// startFrom begins a stream with the objects of a state. marked adds a bookmark after them.
func (r *resource) startFrom(
	ctx context.Context, root *state.Root, c *route.Call, opts *watchOptions, marked bool,
) (watch.Start, error) {
	changes, err := r.store.WatchFor(c.Sender.Name, stored.Prefix(r.kind, c.Namespace), root.Index())
	present := r.local(ctx, root, c.Namespace, opts.selector, "")
	return watch.Start{Initial: r.converted(ctx, present.objects), Marked: marked, After: root.Index(), Changes: changes}, err
}

func (r *resource) startFromBeginning(ctx context.Context, user string, prefix state.Prefix) (watch.Start, error) {
	objects, after, err := r.store.Beginning(ctx, prefix)
	if err != nil {
		return watch.Start{}, err
	}
	changes, err := r.store.WatchFor(user, prefix, after)
	return watch.Start{Initial: r.converted(ctx, objects), After: after, Changes: changes}, err
}
