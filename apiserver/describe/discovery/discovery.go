package discovery

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest/route"
)

const (
	coreVersion = "v1"
	corePrefix  = "/api/v1"
	groupPrefix = "/apis/"
	groupsPath  = "/apis"
)

// object is a JSON object. Its members are written in sorted order.
type object = map[string]any

// Config configures the discovery documents.
type Config struct {
	// Kinds are the kinds that are always served.
	Kinds []*schema.Kind
	// Address is the HOST:PORT at which clients reach this server.
	Address string
	// Paths are the server's other paths, for the index.
	Paths []string
}

// Documents holds the discovery documents by path. It is immutable; With returns a new one.
type Documents struct {
	static *Documents                // documents of the kinds that are always served; nil in these themselves
	kinds  map[string][]*schema.Kind // by prefix, without the static kinds
	groups []group
	others []string             // paths that are not documents, for the index
	byPath map[string]*Document // without the static documents, except those that differ here
}

// New returns the documents of the kinds that are always served.
func New(cfg Config) (*Documents, error) {
	kinds := schema.ByPrefix(cfg.Kinds)
	d := &Documents{kinds: kinds, others: cfg.Paths, byPath: map[string]*Document{}}
	versions := apiVersions{
		Kind: "APIVersions", Versions: []string{coreVersion},
		ServerAddresses: []serverAddress{{ClientCIDR: "0.0.0.0/0", ServerAddress: cfg.Address}},
	}
	for _, path := range []string{"/api", "/oapi"} {
		if err := d.add(path, versions); err != nil {
			return nil, err
		}
	}
	if err := d.addAggregated("/api", d.core()); err != nil {
		return nil, err
	}
	return d, d.fill(nil)
}

// With returns the documents of the static kinds and of kinds, which must not be in the groups of
// static kinds, and adds paths to the index. It reuses unchanged documents of the receiver.
func (d *Documents) With(kinds []*schema.Kind, paths []string) (*Documents, error) {
	static := d
	if d.static != nil {
		static = d.static
	}
	out := &Documents{static: static, kinds: schema.ByPrefix(kinds), others: paths, byPath: map[string]*Document{}}
	return out, out.fill(d)
}

// fill adds the documents of the kinds. It reuses those of before that have the same kinds.
func (d *Documents) fill(before *Documents) error {
	for prefix, kinds := range d.kinds {
		if before != nil && slices.Equal(kinds, before.kinds[prefix]) {
			d.byPath[prefix] = before.byPath[prefix]
			continue
		}
		if err := d.add(prefix, listOf(kinds)); err != nil {
			return err
		}
	}
	own := groupsOf(d.kinds)
	for _, g := range own {
		g.Kind, g.APIVersion = "APIGroup", "v1"
		if err := d.add(groupPrefix+g.Name, g); err != nil {
			return err
		}
	}
	d.groups = own
	if d.static != nil {
		d.groups = slices.Concat(d.static.groups, own)
		slices.SortFunc(d.groups, func(a, b group) int { return strings.Compare(a.Name, b.Name) })
	}
	if err := d.add(groupsPath, groupList{Kind: "APIGroupList", APIVersion: "v1", Groups: d.groups}); err != nil {
		return err
	}
	if err := d.addAggregated(groupsPath, d.named()); err != nil {
		return err
	}
	return d.add("/", object{"paths": d.paths()})
}

func (d *Documents) add(path string, content any) error {
	document, err := newDocument(path, content)
	d.byPath[path] = document
	return err
}

// kindsAt returns the kinds served at a prefix.
func (d *Documents) kindsAt(prefix string) []*schema.Kind {
	if kinds := d.kinds[prefix]; kinds != nil || d.static == nil {
		return kinds
	}
	return d.static.kinds[prefix]
}

// Get returns the document of a path, or nil.
func (d *Documents) Get(path string) *Document {
	if document := d.byPath[path]; document != nil || d.static == nil {
		return document
	}
	return d.static.byPath[path]
}

// paths returns all paths except the root, which lists them, in sorted order (I26).
func (d *Documents) paths() []string {
	paths := slices.AppendSeq(slices.Clone(d.others), maps.Keys(d.byPath))
	if d.static != nil {
		paths = slices.AppendSeq(append(paths, d.static.others...), maps.Keys(d.static.byPath))
	}
	slices.Sort(paths)
	return slices.DeleteFunc(slices.Compact(paths), func(path string) bool { return path == "/" })
}

// Own returns the documents that are not static, by path.
func (d *Documents) Own() map[string]*Document {
	own := maps.Clone(d.byPath)
	if d.static != nil {
		maps.DeleteFunc(own, func(path string, _ *Document) bool { return d.static.byPath[path] != nil })
	}
	return own
}

// Register adds the routes of the static documents. current returns the documents in effect for a
// request.
func (d *Documents) Register(add func(method, path string, e *route.Endpoint), current func(c *route.Call) *Documents) {
	for path := range d.byPath {
		add(http.MethodGet, path, Endpoint(func(c *route.Call) *Document { return current(c).Get(path) }))
	}
}
