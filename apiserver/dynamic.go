package apiserver

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"quorate/apiserver/access/fairness"
	"quorate/apiserver/controllers/custom"
	"quorate/apiserver/describe/discovery"
	"quorate/apiserver/describe/openapi"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/status"
)

const (
	// confirmWait bounds how long a request waits to know whether there is a route that this node
	// has not heard of.
	confirmWait = 5 * time.Second
	// indexWait bounds the same wait for documents that list the kinds: without a leader they list
	// those that this node knows.
	indexWait = time.Second
	// thirdPartyLabel and customLabel are the labels of all kinds of ThirdPartyResources and
	// CustomResourceDefinitions in metrics, whose number is unbounded.
	thirdPartyLabel = "thirdparty"
	customLabel     = "custom"
)

// dynamic serves the kinds of ThirdPartyResources and CustomResourceDefinitions, which are added
// and removed at run time.
type dynamic struct {
	served  *custom.Served
	objects *rest.Handlers
	store   rest.Store
	metrics *route.Metrics
	series  map[[2]string]*route.Series // by verb and label; the publisher's own
	current atomic.Pointer[extension]
}

// extension holds the routes and documents of a set of definitions. It is immutable.
type extension struct {
	groups    map[string]*group
	owners    []*custom.Owner
	documents *discovery.Documents
	schemas   *openapi.Documents
}

// group holds the routes of one group.
type group struct {
	owners []*custom.Owner
	routes map[*custom.Owner][]mounted
	table  *route.Table
}

// mounted is a route.
type mounted struct {
	method, path string
	endpoint     *route.Endpoint
}

func newDynamic(served *custom.Served, objects *rest.Handlers, store rest.Store, documents *discovery.Documents,
	schemas *openapi.Documents, metrics *route.Metrics,
) *dynamic {
	d := &dynamic{served: served, objects: objects, store: store, metrics: metrics, series: map[[2]string]*route.Series{}}
	d.current.Store(&extension{documents: documents, schemas: schemas})
	return d
}

// publish builds the routes and documents of a set and serves them. It reuses the routes of groups
// and owners that have not changed.
func (d *dynamic) publish(set *custom.Set) error {
	was := d.current.Load()
	if slices.Equal(set.Owners, was.owners) {
		return nil // the definitions have changed, and what they define has not
	}
	x := &extension{groups: map[string]*group{}, owners: set.Owners}
	var kinds []*schema.Kind
	for _, owner := range set.Owners {
		for _, k := range owner.Kinds {
			kinds = append(kinds, k.Kind)
		}
		if len(owner.Kinds) > 0 {
			name := owner.Kinds[0].Group
			if x.groups[name] == nil {
				x.groups[name] = &group{}
			}
			x.groups[name].owners = append(x.groups[name].owners, owner)
		}
	}
	x.schemas = was.schemas.With(kinds)
	var err error
	if x.documents, err = was.documents.With(kinds, x.schemas.Paths()); err != nil {
		return err
	}
	for name, g := range x.groups {
		if former := was.groups[name]; former != nil && slices.Equal(former.owners, g.owners) {
			x.groups[name] = former
			continue
		}
		if err := d.mount(g, was.groups[name]); err != nil {
			return err
		}
	}
	d.mountDocuments(x, was)
	d.current.Store(x)
	return nil
}

// mount makes the routes of a group's owners. former is the group as it was; it may be nil.
func (d *dynamic) mount(g, former *group) error {
	g.table, g.routes = route.NewTable(), map[*custom.Owner][]mounted{}
	for _, owner := range g.owners {
		if former != nil {
			g.routes[owner] = former.routes[owner]
		}
		if g.routes[owner] == nil {
			routes, err := d.routesOf(owner)
			if err != nil {
				return err
			}
			g.routes[owner] = routes
		}
		for _, m := range g.routes[owner] {
			g.table.Add(m.method, m.path, m.endpoint)
		}
	}
	return nil
}

// routesOf returns the routes of an owner's kinds.
func (d *dynamic) routesOf(owner *custom.Owner) ([]mounted, error) {
	var routes []mounted
	store, label := d.served.Instances(d.store, owner), thirdPartyLabel
	if owner.Defined {
		label = customLabel
	}
	for _, k := range owner.Kinds {
		err := d.objects.Mount(k.Kind, rest.Collection{Store: store, End: k.End}, func(method, path string, e *route.Endpoint) {
			eachEndpoint(e, func(e *route.Endpoint) { d.prepare(e, label, k.Warning) })
			routes = append(routes, mounted{method, path, e})
		})
		if err != nil {
			return nil, err
		}
	}
	return routes, nil
}

// mountDocuments adds the routes of the documents of the groups whose tables are new.
func (d *dynamic) mountDocuments(x, was *extension) {
	add := func(method, path string, e *route.Endpoint) {
		name, _ := groupOf(path)
		if g := x.groups[name]; g != nil && g != was.groups[name] {
			eachEndpoint(e, func(e *route.Endpoint) { d.prepare(e, "none", "") })
			g.table.Add(method, path, e)
		}
	}
	x.schemas.Mount(add)
	for path, document := range x.documents.Own() {
		add(http.MethodGet, path, discovery.Endpoint(func(*route.Call) *discovery.Document { return document }))
	}
}

// prepare sets the metrics of an endpoint and makes it send a warning, if there is one, and route a
// request again if its route is out of date.
func (d *dynamic) prepare(e *route.Endpoint, label, warning string) {
	key := [2]string{e.Verb, label}
	if d.series[key] == nil {
		d.series[key] = d.metrics.Series(e.Verb, label)
	}
	e.Series = d.series[key]
	serve := e.Serve
	e.Serve = func(c *route.Call) error {
		if warning != "" {
			rest.Warn(c, warning)
		}
		err := serve(c)
		if _, stale := errors.AsType[*custom.Stale](err); !stale {
			return err
		}
		c.W.Header().Del("Warning") // the other route has its own
		ok, err := d.reroute(c, e)
		if err != nil {
			return err
		}
		if !ok {
			return status.NewNoRoute()
		}
		return c.Endpoint.Serve(c)
	}
}

// reroute sets the endpoint of a call to the one that replaces a stale endpoint, and reports
// whether there is one. If the published routes have none, it confirms, as find does, that this
// node knows all definitions: the kind may have been deleted and created again.
func (d *dynamic) reroute(c *route.Call, stale *route.Endpoint) (ok bool, err error) {
	if _, ok := d.current.Load().find(c); ok && c.Endpoint != stale {
		return true, nil
	}
	_, ok, err = d.findConfirmed(c)
	return ok && c.Endpoint != stale, err
}

// find sets the endpoint of a call that the fixed table does not have, or returns the methods that
// its path allows. If a definition may define the path and the published routes lack it, find takes
// a read seat and confirms that this node knows all definitions before it reports no route, because
// another node may just have acknowledged one (K5).
func (d *dynamic) find(c *route.Call, reads *fairness.Dispatcher) (allow string, ok bool, err error) {
	if _, ok := groupOf(c.R.URL.Path); !ok {
		return "", false, nil
	}
	if allow, ok = d.current.Load().find(c); ok || allow != "" {
		return allow, ok, nil
	}
	var seat fairness.Seat
	if err := enter(reads, c, &seat); err != nil {
		return "", false, err
	}
	defer seat.Leave()
	return d.findConfirmed(c)
}

// findConfirmed looks for a route among those of all definitions that were acknowledged
// before the call.
func (d *dynamic) findConfirmed(c *route.Call) (allow string, ok bool, err error) {
	ctx, err := c.Timeout(confirmWait)
	if err != nil {
		return "", false, err
	}
	defer ctx.Stop()
	if err := d.served.Confirm(ctx); err != nil {
		return "", false, err
	}
	allow, ok = d.current.Load().find(c)
	return allow, ok, nil
}

// find sets the endpoint of a call, as route.Table does.
func (x *extension) find(c *route.Call) (allow string, ok bool) {
	name, _ := groupOf(c.R.URL.Path)
	if g := x.groups[name]; g != nil {
		return g.table.Find(c)
	}
	return "", false
}

// groupOf returns the group of a path. ok reports whether a definition may define kinds in it: one
// with a dot, outside platform.io.
func groupOf(path string) (name string, ok bool) {
	path, ok = strings.CutPrefix(strings.TrimPrefix(path, "/openapi/v3"), "/apis/")
	name, _, _ = strings.Cut(path, "/")
	return name, ok && strings.Contains(name, ".") && !strings.HasSuffix(name, ".platform.io")
}

// known returns what is served now. For documents that list groups it makes sure that this is all
// that was acknowledged, as far as that can be known soon.
func (d *dynamic) known(c *route.Call) *extension {
	if path := c.R.URL.Path; path == "/apis" || path == "/openapi/v3" || path == "/openapi/v2" {
		ctx, cancel := context.WithTimeout(c.R.Context(), indexWait)
		// Without a quorum this node lists what it knows; clients ask again.
		_ = d.served.Confirm(ctx)
		cancel()
	}
	return d.current.Load()
}
