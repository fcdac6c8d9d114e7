package rest

import (
	"math"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/limit"
	"quorate/apiserver/objects/selector"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/rest/paging"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/status"
)

// The values of resourceVersionMatch.
const (
	matchExact        = "Exact"
	matchNotOlderThan = "NotOlderThan"
)

// shortList is the number of objects up to which a list's buffer is not allocated in advance.
const shortList = 16

// list responds with a collection or one page of it, and writes it item by item (C1, C29).
func (r *resource) list(c *route.Call) error {
	as, err := r.choose(c, r.variants.lists)
	if err != nil {
		return err
	}
	opts, err := readListOptions(c)
	if err != nil {
		return err
	}
	sel, err := r.selector(c)
	if err != nil {
		return err
	}
	if sel == nil && !opts.paged() {
		root, err := r.state(c, opts.version)
		if err != nil {
			return err
		}
		return r.writeList(c, &as, r.whole(c.R.Context(), root, c.Namespace, nil))
	}
	ctx, err := c.Timeout(readDeadline)
	if err != nil {
		return err
	}
	defer ctx.Stop()
	if !opts.paged() {
		root, err := r.state(c, opts.version)
		if err != nil {
			return err
		}
		return r.writeList(c, &as, r.whole(ctx, root, c.Namespace, sel))
	}
	p, err := r.page(ctx, c, &opts, sel)
	if err != nil {
		return err
	}
	return r.writeList(c, &as, p)
}

// selector parses the selectors of a list, a watch or a delete of a collection (specification
// §4.4).
func (r *resource) selector(c *route.Call) (*selector.Selector, error) {
	if c.R.URL.RawQuery == "" {
		return nil, nil
	}
	q := c.Query()
	sel, err := selector.Parse(q.Get("labelSelector"), q.Get("fieldSelector"), &r.selectable)
	if err != nil {
		return nil, limit.Carry(err, status.NewBadRequest(err.Error()))
	}
	hidden, err := q.Bool("includeUninitialized")
	if err != nil || !hidden {
		return sel, err
	}
	return selector.WithHidden(sel), nil
}

// listOptions are the parameters that determine the state of a list and the page.
type listOptions struct {
	version   string
	exact     bool
	limit     int
	continued string
	query     paging.Query // except for the cluster, resource and namespace
}

// paged reports whether the request is for a page, or for a state that has to be retained.
func (o *listOptions) paged() bool { return o.limit > 0 || o.continued != "" || o.exact }

// readListOptions reads the options of a list and returns an error for those that lists do not
// have.
func readListOptions(c *route.Call) (opts listOptions, err error) {
	if c.R.URL.RawQuery == "" {
		return opts, nil
	}
	q := c.Query()
	if _, err := q.Bool("allowWatchBookmarks"); err != nil {
		return opts, err
	}
	if _, err := q.TimeoutSeconds(); err != nil { // 400 unless a non-negative integer (C43)
		return opts, err
	}
	limit, err := q.Count("limit") // 400 unless a non-negative integer (C30)
	if err != nil {
		return opts, err
	}
	if q.Has("sendInitialEvents") { // for watches only (C46)
		return opts, status.NewInvalidOption("ListOptions", field.Forbidden(field.NewPath("sendInitialEvents"),
			"sendInitialEvents is forbidden for list"))
	}
	opts = listOptions{
		version: q.Get("resourceVersion"), exact: q.Get("resourceVersionMatch") == matchExact,
		limit: int(min(limit, math.MaxInt32)), continued: q.Get("continue"),
		query: paging.Query{Labels: q.Get("labelSelector"), Fields: q.Get("fieldSelector")},
	}
	if opts.query.Uninitialized, err = q.Bool("includeUninitialized"); err != nil {
		return opts, err
	}
	if err := checkMatch(q, opts.version, opts.continued); err != nil {
		return opts, err
	}
	if opts.continued != "" && opts.version != "" && opts.version != "0" { // the page has its version (C39)
		return opts, status.NewBadRequest("specifying resource version is not allowed when using continue")
	}
	return opts, nil
}

// checkMatch returns an error if resourceVersionMatch is unknown or inconsistent with the other
// parameters (C27).
func checkMatch(q route.Query, version, continued string) error {
	match, err := q.Choice("resourceVersionMatch", "ListOptions")
	if match == "" || err != nil {
		return err
	}
	path := field.NewPath("resourceVersionMatch")
	switch {
	case continued != "":
		return status.NewInvalidOption("ListOptions",
			field.Forbidden(path, "resourceVersionMatch is forbidden when continue is provided"))
	case version == "":
		return status.NewInvalidOption("ListOptions",
			field.Forbidden(path, "resourceVersionMatch is forbidden unless resourceVersion is provided"))
	case match == matchExact && version == "0":
		return status.NewInvalidOption("ListOptions",
			field.Forbidden(path, `resourceVersionMatch "Exact" is forbidden for resourceVersion "0"`))
	}
	return nil
}

// writeList streams the list in bounded memory. An error before the first byte becomes a Status; a
// later one aborts the response.
func (r *resource) writeList(c *route.Call, as *representation, p *page) error {
	p.items = r.converted(c.R.Context(), p.items)
	l, prefix := r.listOf(as)
	l.Metadata, l.Keep = r.listMetadata(c.Namespace, p), c.KeepEncoded
	if as.form.Binary() { // protobuf writes lengths first, so the items are iterated twice
		if err := p.settle(); err != nil {
			return err
		}
		if err := r.values(c, as, p, 0, l.Measure); err != nil {
			return err
		}
	}
	if c.Recording != nil && c.Recording.WantsResponse() {
		if err := r.recordList(c, as, p); err != nil {
			return err
		}
	}
	out := c.Stream(as.form)
	if p.expected > shortList {
		out.Reserve()
	}
	var err error
	if out.Buf, err = l.AppendHead(out.Buf); err != nil {
		return err
	}
	for piece := range l.Pieces() {
		out.Buf = append(out.Buf, piece...)
		if err := out.Spill(); err != nil {
			return err
		}
	}
	err = r.values(c, as, p, l.Kept(), func(value []byte) error {
		if out.Buf, err = l.AppendItem(out.Buf, value, prefix); err != nil {
			return err
		}
		return out.Spill()
	})
	if err != nil {
		return err
	}
	if out.Buf, err = l.AppendTail(out.Buf); err != nil {
		return err
	}
	return out.Close()
}

// values calls fn with the bytes of each item of a page, except for the first skip ones, until fn
// returns an error. The bytes are valid until fn returns.
func (r *resource) values(c *route.Call, as *representation, p *page, skip int, fn func(value []byte) error) error {
	var room []byte // buffer for values that differ from the stored ones
	for o, err := range p.items {
		if err != nil {
			return err
		}
		if skip > 0 {
			skip--
			continue
		}
		var value []byte
		if value, room, err = r.item(as, o.Value, room, c.Now); err != nil {
			return err
		}
		if err := fn(value); err != nil {
			return err
		}
	}
	return nil
}

// listMetadata returns the metadata of a list (C1): selfLink; resourceVersion, which is the index
// of the state (C4); and, if more pages may follow, continue (C29) and, for lists without
// selectors, remainingItemCount (C36).
func (r *resource) listMetadata(namespace string, p *page) []byte {
	b := append([]byte(nil), `{"selfLink":"`...)
	b = append(b, stored.CollectionPath(r.kind, namespace)...)
	b = append(b, `","resourceVersion":"`...)
	b = strconv.AppendUint(b, p.index, 10)
	b = append(b, '"')
	if p.next != "" {
		b = append(b, `,"continue":"`...)
		b = append(b, p.next...)
		b = append(b, '"')
	}
	if p.remaining > 0 {
		b = append(b, `,"remainingItemCount":`...)
		b = strconv.AppendInt(b, int64(p.remaining), 10)
	}
	return append(b, '}')
}
