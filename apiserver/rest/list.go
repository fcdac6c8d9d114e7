package rest

import (
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/negotiate"
	"quorate/apiserver/route"
	"quorate/apiserver/selector"
	"quorate/apiserver/status"
	"quorate/apiserver/stored"
	"quorate/raftstore/state"
)

// The values of resourceVersionMatch.
const (
	matchExact        = "Exact"
	matchNotOlderThan = "NotOlderThan"
)

// shortList is the number of objects up to which a list's buffer grows as it must.
const shortList = 16

// list answers with a collection, walked and written item by item (C1–C28).
func (r *resource) list(c *route.Call) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	if err := checkListOptions(c); err != nil {
		return err
	}
	sel, err := r.selector(c)
	if err != nil {
		return err
	}
	root, err := r.listState(c)
	if err != nil {
		return err
	}
	return r.writeList(c, form, root, sel)
}

// selector reads what a list, a watch or a delete of a collection is restricted to (specification §4.4).
func (r *resource) selector(c *route.Call) (*selector.Selector, error) {
	if c.R.URL.RawQuery == "" {
		return nil, nil
	}
	q := c.Query()
	sel, err := selector.Parse(q.Get("labelSelector"), q.Get("fieldSelector"), &r.selectable)
	if err != nil {
		return nil, status.NewBadRequest(err.Error())
	}
	hidden, err := q.Bool("includeUninitialized")
	if err != nil || !hidden {
		return sel, err
	}
	return selector.WithHidden(sel), nil
}

// checkListOptions refuses what a list can't take.
func checkListOptions(c *route.Call) error {
	if c.R.URL.RawQuery == "" {
		return nil
	}
	q := c.Query()
	for _, name := range []string{"limit", "timeoutSeconds"} {
		if _, _, err := q.Count(name); err != nil {
			return err
		}
	}
	for _, name := range []string{"includeUninitialized", "allowWatchBookmarks"} {
		if _, err := q.Bool(name); err != nil {
			return err
		}
	}
	if q.Has("sendInitialEvents") { // C46
		return status.NewInvalidOption("ListOptions", field.Forbidden(field.NewPath("sendInitialEvents"),
			"sendInitialEvents is forbidden for list"))
	}
	version := q.Get("resourceVersion")
	if q.Get("continue") != "" {
		if version != "" && version != "0" { // C39
			return status.NewBadRequest("specifying resource version is not allowed when using continue")
		}
		return status.NewExpiredContinue() // no page but the whole list is ever given, so none can be continued
	}
	return checkMatch(q.Get("resourceVersionMatch"), version)
}

// checkMatch: C27.
func checkMatch(match, version string) error {
	path := field.NewPath("resourceVersionMatch")
	switch match {
	case "":
		return nil
	case matchExact, matchNotOlderThan:
	default:
		return status.NewInvalidOption("ListOptions",
			field.NotSupported(path, match, []string{matchExact, matchNotOlderThan, ""}))
	}
	switch {
	case version == "":
		return status.NewInvalidOption("ListOptions",
			field.Forbidden(path, "resourceVersionMatch is forbidden unless resourceVersion is provided"))
	case match == matchExact && version == "0":
		return status.NewInvalidOption("ListOptions",
			field.Forbidden(path, `resourceVersionMatch "Exact" is forbidden for resourceVersion "0"`))
	}
	return nil
}

// listState returns the state to list. An exact version is served only while it is the present one (C25, C26).
func (r *resource) listState(c *route.Call) (*state.Root, error) {
	version := c.Query().Get("resourceVersion")
	root, err := r.state(c, version)
	if err != nil || c.Query().Get("resourceVersionMatch") != matchExact {
		return root, err
	}
	if strconv.FormatUint(root.Index(), 10) != version {
		return nil, status.NewTooOldList()
	}
	return root, nil
}

// writeList streams the list with constant memory. An error before anything was sent becomes a Status, a later one breaks the
// answer off.
func (r *resource) writeList(c *route.Call, form negotiate.Form, root *state.Root, sel *selector.Selector) error {
	l := negotiate.List{Form: form, Kind: r.kind, Metadata: r.listMetadata(c.Namespace, root.Index())}
	if form.Binary() { // lengths come first: the items are walked twice
		if err := r.values(root, c.Namespace, sel, l.Measure); err != nil {
			return err
		}
	}
	out := c.Stream(form)
	if root.Count(stored.Prefix(r.kind, c.Namespace)) > shortList {
		out.Reserve()
	}
	var err error
	if out.Buf, err = l.AppendHead(out.Buf); err != nil {
		return err
	}
	if !l.Complete() {
		err = r.values(root, c.Namespace, sel, func(value []byte) error {
			if out.Buf, err = l.AppendItem(out.Buf, value, r.kind.ListPrefix()); err != nil {
				return err
			}
			return out.Spill()
		})
	}
	if err != nil {
		return err
	}
	if out.Buf, err = l.AppendTail(out.Buf); err != nil {
		return err
	}
	return out.Close()
}

// values calls fn with the bytes of the selected objects of a collection, until it fails.
func (r *resource) values(root *state.Root, namespace string, sel *selector.Selector, fn func(value []byte) error) error {
	var failed error
	r.walk(root, namespace, sel, func(o *state.Object) bool {
		var value []byte
		if value, failed = r.value(o); failed == nil {
			failed = fn(value)
		}
		return failed == nil
	})
	return failed
}

// walk calls fn with the selected objects of a collection in the order of their keys. A selector that fixes the name needs no
// walk.
func (r *resource) walk(root *state.Root, namespace string, sel *selector.Selector, fn func(o *state.Object) bool) {
	if namespace == "" && r.kind.Namespaced {
		namespace, _ = sel.Namespace()
	}
	if name, fixed := sel.Name(); fixed && (namespace != "" || !r.kind.Namespaced) {
		if o := root.Get(stored.Key(r.kind, namespace, name)); o != nil && sel.Matches(o) {
			fn(o)
		}
		return
	}
	root.Ascend(stored.Prefix(r.kind, namespace), "", func(o *state.Object) bool {
		return !sel.Matches(o) || fn(o)
	})
}

// listMetadata: selfLink and resourceVersion, the index of the state (C1, C4).
func (r *resource) listMetadata(namespace string, index uint64) []byte {
	b := append([]byte(nil), `{"selfLink":"`...)
	b = append(b, stored.CollectionPath(r.kind, namespace)...)
	b = append(b, `","resourceVersion":"`...)
	b = strconv.AppendUint(b, index, 10)
	return append(b, `"}`...)
}
