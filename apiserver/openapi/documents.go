package openapi

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"quorate/apiserver/route"
	"quorate/apiserver/schema"
	"quorate/apiserver/status"
)

const indexPath = "/openapi/v3"

// Documents describe a set of kinds. They never change; With makes others.
type Documents struct {
	static   *Documents                // of the kinds of the files; nil for these themselves
	kinds    map[string][]*schema.Kind // by prefix, without the static ones
	versions map[string]*document      // by prefix, without the static ones
	index    *document
}

// New returns the documents of the kinds of the files.
func New(kinds []*schema.Kind) (*Documents, error) {
	d := &Documents{kinds: byPrefix(kinds)}
	return d, d.fill(nil)
}

// With returns the documents of the static kinds and others, whose groups are their own. What is as it was is taken over from
// the documents before.
func (d *Documents) With(kinds []*schema.Kind) (*Documents, error) {
	out := &Documents{static: d, kinds: byPrefix(kinds)}
	if d.static != nil {
		out.static = d.static
	}
	return out, out.fill(d)
}

// byPrefix groups kinds by where they are served.
func byPrefix(kinds []*schema.Kind) map[string][]*schema.Kind {
	out := map[string][]*schema.Kind{}
	for _, k := range kinds {
		out[k.Prefix] = append(out[k.Prefix], k)
	}
	return out
}

func (d *Documents) fill(before *Documents) error {
	d.versions = map[string]*document{}
	for prefix, kinds := range d.kinds {
		if before != nil && slices.Equal(kinds, before.kinds[prefix]) {
			d.versions[prefix] = before.versions[prefix]
			continue
		}
		var err error
		if d.versions[prefix], err = newDocument(indexPath+prefix, openAPI(kinds)); err != nil {
			return err
		}
	}
	index := object{}
	for prefix, document := range d.all() {
		index[strings.TrimPrefix(prefix, "/")] = object{"serverRelativeURL": indexPath + prefix + "?hash=" + document.hash}
	}
	var err error
	d.index, err = newDocument(indexPath, object{"paths": index})
	return err
}

// all are the documents of the group versions, by prefix.
func (d *Documents) all() map[string]*document {
	all := maps.Clone(d.versions)
	if d.static != nil {
		maps.Copy(all, d.static.versions)
	}
	return all
}

// Paths returns where the documents are.
func (d *Documents) Paths() []string {
	paths := []string{indexPath}
	for prefix := range d.all() {
		paths = append(paths, indexPath+prefix)
	}
	return paths
}

// Register adds the routes of the static documents; current returns those that are served now.
func (d *Documents) Register(add func(method, path string, e *route.Endpoint), current func(c *route.Call) *Documents) {
	add(http.MethodGet, indexPath, endpoint(func(c *route.Call) error { return current(c).index.answer(c) }))
	d.Mount(add)
	// Clients ask for version 2 first or last, and go on with version 3 after a 404 (L18).
	add(http.MethodGet, "/openapi/v2", endpoint(func(*route.Call) error { return status.NewNoRoute() }))
}

// Mount adds the routes of the documents that are not among the static ones.
func (d *Documents) Mount(add func(method, path string, e *route.Endpoint)) {
	for prefix, document := range d.versions {
		add(http.MethodGet, indexPath+prefix, endpoint(document.answer))
	}
}

// endpoint is open to every authenticated user (L20).
func endpoint(serve func(c *route.Call) error) *route.Endpoint {
	return &route.Endpoint{Verb: route.VerbGet, Class: route.ClassRead, Authenticated: true, Serve: serve}
}
