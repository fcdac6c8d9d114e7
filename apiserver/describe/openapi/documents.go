package openapi

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest/route"
)

const (
	wholePath = "/openapi/v2"
	indexPath = "/openapi/v3"
)

// Config configures the documents.
type Config struct {
	// Kinds are the kinds that are always served.
	Kinds []*schema.Kind
	// Catalog contains the messages that requests and responses of all kinds share.
	Catalog *schema.Catalog
}

// Documents holds the documents of a set of kinds. It is immutable; With returns a new one.
type Documents struct {
	common   *common
	formats  formats
	static   *Documents                // documents of the kinds that are always served; nil in these themselves
	kinds    map[string][]*schema.Kind // by prefix, without the static kinds
	versions map[string]*document      // version 3 documents by prefix, without the static ones
	index    *document                 // index of the version 3 documents
	whole    *document                 // version 2 document of all kinds
}

// New returns the documents of the kinds that are always served.
func New(cfg Config) (*Documents, error) {
	d := &Documents{common: &common{}, formats: cfg.Catalog.Formats(), kinds: schema.ByPrefix(cfg.Kinds)}
	for name, at := range map[string]**schema.Message{
		"Status": &d.common.status, "DeleteOptions": &d.common.deleteOptions, "WatchEvent": &d.common.watchEvent,
		"ListMeta": &d.common.listMeta,
	} {
		if *at = cfg.Catalog.Message(name); *at == nil {
			return nil, errors.New("the catalog has no message " + name)
		}
	}
	d.fill(nil)
	return d, nil
}

// With returns the documents of the static kinds and of kinds, which must not be in the groups of
// static kinds. It reuses unchanged documents of the receiver.
func (d *Documents) With(kinds []*schema.Kind) *Documents {
	out := &Documents{common: d.common, formats: d.formats, static: d, kinds: schema.ByPrefix(kinds)}
	if d.static != nil {
		out.static = d.static
	}
	out.fill(d)
	return out
}

// fill adds the documents. It reuses those of before that have the same kinds. The others are built
// when a client requests them.
func (d *Documents) fill(before *Documents) {
	d.versions = map[string]*document{}
	common, formats := d.common, d.formats // do not capture d, because With may reuse a document beyond its lifetime
	for prefix, kinds := range d.kinds {
		if before != nil && slices.Equal(kinds, before.kinds[prefix]) {
			d.versions[prefix] = before.versions[prefix]
			continue
		}
		d.versions[prefix] = newDocument(indexPath+prefix, func() (object, error) { return describe(version3, common, formats, kinds) },
			protobuf3, protobuf3Type, protobuf3OldType)
	}
	d.index = newDocument(indexPath, d.makeIndex, nil)
	d.whole = newDocument(wholePath, func() (object, error) { return describe(version2, common, formats, d.allKinds()) },
		protobuf2, protobuf2Type, protobuf2OldType)
}

// describe builds a document of some kinds.
func describe(as dialect, c *common, f formats, kinds []*schema.Kind) (object, error) {
	b := newBuilder(as, c, f)
	for _, k := range kinds {
		b.kind(k)
	}
	return b.document()
}

// allKinds returns all kinds, those of the core group first, so that their components get names
// without a prefix.
func (d *Documents) allKinds() []*schema.Kind {
	kinds := maps.Clone(d.kinds)
	if d.static != nil {
		maps.Copy(kinds, d.static.kinds)
	}
	var all []*schema.Kind
	for _, prefix := range slices.Sorted(maps.Keys(kinds)) {
		all = append(all, kinds[prefix]...)
	}
	return all
}

// makeIndex builds the index of the version 3 documents. Their addresses in it change with their
// content (L15).
func (d *Documents) makeIndex() (object, error) {
	index := object{}
	for prefix, document := range d.allVersions() {
		address, err := document.address()
		if err != nil {
			return nil, err
		}
		index[strings.TrimPrefix(prefix, "/")] = object{"serverRelativeURL": address}
	}
	return object{"paths": index}, nil
}

// allVersions returns the version 3 documents by prefix.
func (d *Documents) allVersions() map[string]*document {
	all := maps.Clone(d.versions)
	if d.static != nil {
		maps.Copy(all, d.static.versions)
	}
	return all
}

// Paths returns the paths of the documents.
func (d *Documents) Paths() []string {
	paths := []string{wholePath, indexPath}
	for prefix := range d.allVersions() {
		paths = append(paths, indexPath+prefix)
	}
	return paths
}

// Register adds the routes of the static documents. current returns the documents in effect for a
// request.
func (d *Documents) Register(add func(method, path string, e *route.Endpoint), current func(c *route.Call) *Documents) {
	add(http.MethodGet, indexPath, endpoint(func(c *route.Call) error { return current(c).index.answer(c) }))
	add(http.MethodGet, wholePath, endpoint(func(c *route.Call) error { return current(c).whole.answer(c) }))
	d.Mount(add)
}

// Mount adds the routes of the documents that are not static.
func (d *Documents) Mount(add func(method, path string, e *route.Endpoint)) {
	for prefix, document := range d.versions {
		add(http.MethodGet, indexPath+prefix, endpoint(document.answer))
	}
}

// endpoint returns an endpoint that every authenticated user may request (L20).
func endpoint(serve func(c *route.Call) error) *route.Endpoint {
	return &route.Endpoint{Verb: route.VerbGet, Class: route.ClassRead, Authenticated: true, Serve: serve}
}
