package apiserver

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"quorate/apiserver/access/fairness"
	"quorate/apiserver/controllers/thirdparty"
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
	// thirdPartyLabel is the label of all kinds of ThirdPartyResources in metrics, whose number is
	// unbounded.
	thirdPartyLabel = "thirdparty"
)

// dynamic serves the kinds of ThirdPartyResources, which are added and removed at run time.
type dynamic struct {
	served  *thirdparty.Served
	objects *rest.Handlers
	store   rest.Store
	metrics *route.Metrics
	series  map[string]*route.Series // by verb; the publisher's own
	current atomic.Pointer[extension]
}

// extension holds the routes and documents of a set of ThirdPartyResources. It is immutable.
type extension struct {
	table     *route.Table
	documents *discovery.Documents
	schemas   *openapi.Documents
}

func newDynamic(served *thirdparty.Served, objects *rest.Handlers, store rest.Store, documents *discovery.Documents,
	schemas *openapi.Documents, metrics *route.Metrics,
) *dynamic {
	d := &dynamic{served: served, objects: objects, store: store, metrics: metrics, series: map[string]*route.Series{}}
	d.current.Store(&extension{route.NewTable(), documents, schemas})
	return d
}

// publish builds the routes and documents of a set and serves them.
func (d *dynamic) publish(set *thirdparty.Set) error {
	x := &extension{table: route.NewTable()}
	add := func(method, path string, e *route.Endpoint) {
		eachEndpoint(e, d.prepare)
		x.table.Add(method, path, e)
	}
	var kinds []*schema.Kind
	for _, owner := range set.Owners {
		store := d.served.Instances(d.store, owner)
		for _, k := range owner.Kinds {
			if err := d.objects.Mount(k.Kind, rest.Collection{Store: store, End: k.End}, add); err != nil {
				return err
			}
			kinds = append(kinds, k.Kind)
		}
	}
	var err error
	x.schemas = d.current.Load().schemas.With(kinds)
	x.schemas.Mount(add)
	if x.documents, err = d.current.Load().documents.With(kinds, x.schemas.Paths()); err != nil {
		return err
	}
	for path, document := range x.documents.Own() {
		add(http.MethodGet, path, discovery.Endpoint(func(*route.Call) *discovery.Document { return document }))
	}
	d.current.Store(x)
	return nil
}

// prepare sets the metrics of an endpoint and makes it route a request again if its route is out of
// date.
func (d *dynamic) prepare(e *route.Endpoint) {
	if d.series[e.Verb] == nil {
		d.series[e.Verb] = d.metrics.Series(e.Verb, thirdPartyLabel)
	}
	e.Series = d.series[e.Verb]
	serve := e.Serve
	e.Serve = func(c *route.Call) error {
		err := serve(c)
		if _, stale := errors.AsType[*thirdparty.Stale](err); !stale {
			return err
		}
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

// reroute finds another route than one that is out of date. The state that showed that may be one
// in which the kind was deleted and not yet made again: before there is no route, this node makes
// sure, as find does.
func (d *dynamic) reroute(c *route.Call, stale *route.Endpoint) (ok bool, err error) {
	if _, ok := d.current.Load().table.Find(c); ok && c.Endpoint != stale {
		return true, nil
	}
	_, ok, err = d.findConfirmed(c)
	return ok && c.Endpoint != stale, err
}

// find looks for the route of a call that the fixed table does not have. Before there is none, this
// node makes sure that it knows all ThirdPartyResources: one may have been acknowledged elsewhere a
// moment ago (K5).
func (d *dynamic) find(c *route.Call, reads *fairness.Dispatcher) (allow string, ok bool, err error) {
	if !maybeDynamic(c.R.URL.Path) {
		return "", false, nil
	}
	if allow, ok = d.current.Load().table.Find(c); ok || allow != "" {
		return allow, ok, nil
	}
	var seat fairness.Seat
	if err := enter(reads, c, &seat); err != nil {
		return "", false, err
	}
	defer seat.Leave()
	return d.findConfirmed(c)
}

// findConfirmed looks for a route among those of all ThirdPartyResources that were acknowledged
// before the call.
func (d *dynamic) findConfirmed(c *route.Call) (allow string, ok bool, err error) {
	ctx, cancel, err := c.Deadline(confirmWait)
	if err != nil {
		return "", false, err
	}
	defer cancel()
	if err := d.served.Confirm(ctx); err != nil {
		return "", false, err
	}
	allow, ok = d.current.Load().table.Find(c)
	return allow, ok, nil
}

// maybeDynamic reports whether a path is of a group that a ThirdPartyResource can define: one with
// a dot, outside platform.io.
func maybeDynamic(path string) bool {
	path, ok := strings.CutPrefix(strings.TrimPrefix(path, "/openapi/v3"), "/apis/")
	group, _, _ := strings.Cut(path, "/")
	return ok && strings.Contains(group, ".") && !strings.HasSuffix(group, ".platform.io")
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
