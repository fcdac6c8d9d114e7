package rest

import (
	"quorate/apiserver/objects/selector"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/rest/route"
	"quorate/raftstore"
)

// objectsPerSeat is the number of objects in a list that cost about as much as a get.
const objectsPerSeat = 16

// listCost estimates the seats of a list by the number of objects that it walks: those of the
// collection, or of a page. A list of the object of one name costs as much as a get.
func (r *resource) listCost(c *route.Call) int {
	var limit int64 // only of lists without a selector: others walk the collection
	if c.R.URL.RawQuery != "" {
		q := c.Query()
		fields := q.Get("fieldSelector")
		if selector.NameOf(fields) != "" {
			return 1
		}
		if c.Endpoint.Verb == route.VerbList && fields == "" && q.Get("labelSelector") == "" {
			limit, _ = q.Count("limit") // the handler refuses what is no number
		}
	}
	root, err := r.store.View(c.R.Context(), raftstore.Cached())
	if err != nil { // the handler meets it, too, and reports it
		return 1
	}
	n := root.Count(stored.Prefix(r.kind, c.Namespace))
	if limit > 0 {
		n = int(min(int64(n), limit))
	}
	return 1 + n/objectsPerSeat
}

// watchCost is that of the list that a watch begins with, or of a get if it sends changes only.
func (r *resource) watchCost(c *route.Call) int {
	q := c.Query()
	version := q.Get("resourceVersion")
	if c.Name != "" || q.Get("sendInitialEvents") == "false" || version != "" && version != "0" && !q.Has("sendInitialEvents") {
		return 1
	}
	return r.listCost(c)
}
