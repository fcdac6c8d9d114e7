package rest

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"
	"time"

	"quorate/apiserver/access/admission"
	"quorate/apiserver/access/auth"
	"quorate/apiserver/access/budget"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/selector"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/objects/table"
	"quorate/apiserver/rest/paging"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/rest/watch"
	"quorate/apiserver/wire/status"
	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// Store is the part of the replicated store that the handlers use.
type Store interface {
	View(ctx context.Context, r raftstore.Read) (*state.Root, error)
	Create(ctx context.Context, c raftstore.Create) (*state.Object, error)
	Update(ctx context.Context, u raftstore.Update) (*state.Object, error)
	Delete(ctx context.Context, d raftstore.Delete) (*state.Object, error)
	Changes
	Pages
}

// The maximum durations of requests (I24), and the time that a read waits for a version that this
// node has not applied yet (B5).
const (
	writeDeadline = 34 * time.Second
	readDeadline  = 60 * time.Second
	futureWait    = 3 * time.Second
)

// Config configures the handlers.
type Config struct {
	Catalog *schema.Catalog
	Store   Store
	// StoreOf, if not nil, returns the store for a kind, which replaces Store.
	StoreOf func(k *schema.Kind) Store
	Streams *watch.Streams
	// SelectorBytes limits the memory of the selectors of open watches.
	SelectorBytes *budget.Pool
	// Continue encodes and decodes continue values.
	Continue *paging.Tokens
	// QuorumRead makes reads without a resourceVersion linearizable.
	QuorumRead bool
	// Grants decides whether a user may store an object that grants permissions.
	Grants Grants
	// Admission calls the admission webhooks; nil calls none.
	Admission *admission.Dispatcher
}

// Grants decides about objects that grant permissions.
type Grants interface {
	// Escalation returns why a user may not store an object in place of old, which is nil for a
	// create. It returns "" if the user may store it.
	Escalation(ctx context.Context, u *auth.User, o, old *schema.Object) (why string, err error)
}

// Handlers serves all kinds of a catalog.
type Handlers struct {
	store         Store
	streams       *watch.Streams
	selectors     *selector.Interner // of open watches
	selectorBytes *budget.Pool
	continued     *paging.Tokens
	quorumRead    bool
	grants        Grants
	admission     *admission.Dispatcher
	partials      partials
	deleteOptions *schema.Message
	resources     []*resource
}

// New returns the handlers of a catalog.
func New(cfg Config) (*Handlers, error) {
	deleteOptions := cfg.Catalog.Message(deleteOptionsKind)
	if deleteOptions == nil {
		return nil, errors.New("the catalog has no message " + deleteOptionsKind)
	}
	if cfg.Grants == nil {
		return nil, errors.New("rest: nobody decides who may grant")
	}
	h := &Handlers{
		store: cfg.Store, streams: cfg.Streams, continued: cfg.Continue, quorumRead: cfg.QuorumRead, grants: cfg.Grants,
		admission: cfg.Admission, deleteOptions: deleteOptions, selectors: selector.NewInterner(), selectorBytes: cfg.SelectorBytes,
	}
	var err error
	if h.partials, err = newPartials(cfg.Catalog); err != nil {
		return nil, err
	}
	for _, k := range cfg.Catalog.Kinds() {
		own := h
		if cfg.StoreOf != nil {
			own = h.on(cfg.StoreOf(k))
		}
		r, err := newResource(own, k)
		if err != nil {
			return nil, err
		}
		r.owners = newOwners(k)
		h.resources = append(h.resources, r)
	}
	return h, nil
}

// on returns a copy of the handlers that uses another store.
func (h *Handlers) on(store Store) *Handlers {
	other := *h
	other.store = store
	return &other
}

// resource serves one kind.
type resource struct {
	*Handlers
	kind       *schema.Kind
	scale      *resource // of the subresource scale; nil if there is none
	table      *table.Table
	variants   variants
	selectable selector.Fields
	owners     owners
	exports    bool // reads accept the parameter export
	end        *watch.End
}

func newResource(h *Handlers, k *schema.Kind) (*resource, error) {
	columns, err := table.New(k)
	if err != nil {
		return nil, err
	}
	spec := k.Spec.FieldSelectors
	r := &resource{
		Handlers: h,
		kind:     k,
		table:    columns,
		variants: newVariants(k, h.partials),
		selectable: selector.Fields{
			Supported: setOf(spec.Supported),
			Accepted:  setOf(spec.Accepted),
			Aliases:   spec.Aliases,
		},
		exports: setOf(k.Spec.Operations.ReadParams)["export"],
	}
	r.selectable.Supported["metadata.name"] = true
	if k.Namespaced {
		r.selectable.Supported["metadata.namespace"] = true
	}
	if k.Scale != nil {
		r.scale, err = newResource(h, k.Scale)
	}
	return r, err
}

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// Verbs returns the verbs that are served for a kind in sorted order, as discovery lists them
// (semantics L5).
func Verbs(k *schema.Kind) []string {
	var verbs []string
	for _, v := range []struct {
		verb string
		ops  schema.Operations
	}{
		{route.VerbCreate, schema.OpCreate},
		{route.VerbDelete, schema.OpDelete},
		{route.VerbDeleteCollection, schema.OpDeleteCollection},
		{route.VerbGet, schema.OpRead},
		{route.VerbList, schema.OpList},
		{route.VerbPatch, schema.OpPatch},
		{route.VerbUpdate, schema.OpReplace},
		{route.VerbWatch, schema.OpWatchQuery},
	} {
		if k.Operations.Has(v.ops) && (v.ops != schema.OpCreate || !k.Terminating()) {
			verbs = append(verbs, v.verb)
		}
	}
	return verbs
}

// Subresource is a subresource that is served.
type Subresource struct {
	Name  string
	Kind  *schema.Kind // of the objects that it reads and writes: the kind itself, or Scale
	Verbs []string
}

// Subresources returns the subresources that are served for a kind in sorted order, as discovery
// lists them (semantics L4).
func Subresources(k *schema.Kind) []Subresource {
	var served []Subresource
	for _, s := range subresources() {
		if !k.Operations.Has(s.op) {
			continue
		}
		if last := len(served) - 1; last < 0 || served[last].Name != s.name {
			served = append(served, Subresource{Name: s.name, Kind: s.kind(k)})
		}
		verbs := &served[len(served)-1].Verbs
		*verbs = append(*verbs, s.verb)
	}
	return served
}

// subresource is one method of a subresource.
type subresource struct {
	name   string
	op     schema.Operations
	method string
	verb   string
	class  route.Class
	serve  func(r *resource, c *route.Call) error
}

// kind returns the kind of the objects that the subresource reads and writes.
func (s *subresource) kind(of *schema.Kind) *schema.Kind {
	if s.name == scaleSubresource {
		return of.Scale
	}
	return of
}

const scaleSubresource = "scale"

// subresources returns all methods of subresources, sorted by name and verb.
func subresources() []subresource {
	return []subresource{
		{"finalize", schema.OpFinalizeReplace, http.MethodPut, route.VerbUpdate, route.ClassWrite, (*resource).finalize},
		{scaleSubresource, schema.OpScaleRead, http.MethodGet, route.VerbGet, route.ClassRead, (*resource).getScale},
		{scaleSubresource, schema.OpScalePatch, http.MethodPatch, route.VerbPatch, route.ClassWrite, (*resource).patchScale},
		{scaleSubresource, schema.OpScaleReplace, http.MethodPut, route.VerbUpdate, route.ClassWrite, (*resource).replaceScale},
		{"status", schema.OpStatusRead, http.MethodGet, route.VerbGet, route.ClassRead, (*resource).get},
		{"status", schema.OpStatusPatch, http.MethodPatch, route.VerbPatch, route.ClassWrite, (*resource).patchStatus},
		{"status", schema.OpStatusReplace, http.MethodPut, route.VerbUpdate, route.ClassWrite, (*resource).replaceStatus},
	}
}

// Register adds the routes of all kinds.
func (h *Handlers) Register(add func(method, path string, e *route.Endpoint)) {
	for _, r := range h.resources {
		r.register(add)
	}
}

// Collection configures the handlers of one kind.
type Collection struct {
	Store Store
	// End is the End of a kind that may be removed while it is served.
	End *watch.End
}

// Mount adds the routes of a kind that is not in the catalog of the handlers.
func (h *Handlers) Mount(k *schema.Kind, c Collection, add func(method, path string, e *route.Endpoint)) error {
	r, err := newResource(h.on(c.Store), k)
	if err != nil {
		return err
	}
	r.owners, r.end = newOwners(k), c.End
	r.register(add)
	return nil
}

func (r *resource) subject() status.Subject {
	return status.Subject{Group: r.kind.Group, Plural: r.kind.Plural, Kind: r.kind.Kind}
}

// endpoint returns an endpoint of the kind, or nil if the kind does not offer the operation.
func (r *resource) endpoint(op schema.Operations, verb string, class route.Class, serve func(c *route.Call) error) *route.Endpoint {
	if !r.kind.Operations.Has(op) {
		return nil
	}
	return &route.Endpoint{
		Verb: verb, Class: class, Subject: r.subject(), Version: r.kind.Version, Kind: r.kind, Serve: serve,
	}
}

func (r *resource) register(add func(method, path string, e *route.Endpoint)) {
	offered := func(method, path string, e *route.Endpoint) {
		if e != nil {
			e.NamesNamespace = r.kind.Resource == stored.Namespaces && strings.Contains(path, "/:namespace")
			add(method, path, e)
		}
	}
	k := r.kind
	all := k.Prefix + "/" + k.Plural
	collection := all
	if k.Namespaced {
		collection = k.Prefix + "/namespaces/:namespace/" + k.Plural
		anywhere := r.endpoint(schema.OpCreateClusterWide, route.VerbCreate, route.ClassWrite, r.create)
		if anywhere != nil {
			anywhere.LateAuthorization = true
		}
		offered(http.MethodPost, all, anywhere)
		offered(http.MethodGet, all, r.listEndpoint(schema.OpListAll))
	}
	item := collection + "/:name"
	if k.Resource == stored.Namespaces {
		// The router requires one name for all wildcards at the same position, and for other kinds
		// this is the namespace.
		item = collection + "/:namespace"
	}
	offered(http.MethodPost, collection, r.endpoint(schema.OpCreate, route.VerbCreate, route.ClassWrite, r.create))
	offered(http.MethodGet, collection, r.listEndpoint(schema.OpList))
	offered(http.MethodGet, item, r.endpoint(schema.OpRead, route.VerbGet, route.ClassRead, r.get))
	offered(http.MethodPut, item, r.endpoint(schema.OpReplace, route.VerbUpdate, route.ClassWrite, r.replace))
	offered(http.MethodPatch, item, r.endpoint(schema.OpPatch, route.VerbPatch, route.ClassWrite, r.patch))
	offered(http.MethodDelete, item, r.endpoint(schema.OpDelete, route.VerbDelete, route.ClassWrite, r.delete))
	if e := r.endpoint(schema.OpDeleteCollection, route.VerbDeleteCollection, route.ClassWrite, r.deleteCollection); e != nil {
		e.Cost = r.listCost
		offered(http.MethodDelete, collection, e)
	}
	r.registerSubresources(offered, item)
	r.registerWatches(offered, collection, item)
}

func (r *resource) listEndpoint(op schema.Operations) *route.Endpoint {
	e := r.endpoint(op, route.VerbList, route.ClassRead, r.list)
	if e == nil {
		return nil
	}
	e.Cost = r.listCost
	e.Watch = r.watchEndpoint(schema.OpWatchQuery)
	if e.Watch == nil { // the legacy form of a binding can't be watched: 405 (D36)
		e.Watch = &route.Endpoint{
			Verb: route.VerbWatch, Subject: e.Subject, Version: e.Version, Kind: r.kind,
			Serve: func(c *route.Call) error { return status.NewNotSupported(c.Subject(), "watch", http.MethodGet) },
		}
	}
	return e
}

// registerWatches adds the paths below /watch: collections and single items (D31–D33).
func (r *resource) registerWatches(add func(method, path string, e *route.Endpoint), collection, item string) {
	watched := func(path string) string {
		return r.kind.Prefix + "/watch" + strings.TrimPrefix(path, r.kind.Prefix)
	}
	add(http.MethodGet, watched(r.kind.Prefix+"/"+r.kind.Plural), r.watchEndpoint(schema.OpWatchAll))
	if r.kind.Namespaced {
		add(http.MethodGet, watched(collection), r.watchEndpoint(schema.OpWatchNamespace))
	}
	add(http.MethodGet, watched(item), r.watchEndpoint(schema.OpWatchOne))
}

func (r *resource) watchEndpoint(op schema.Operations) *route.Endpoint {
	e := r.endpoint(op, route.VerbWatch, route.ClassStream, r.watch)
	if e != nil {
		e.Cost = r.watchCost
	}
	return e
}

// registerSubresources adds the paths of /status, /scale and /finalize (H).
func (r *resource) registerSubresources(add func(method, path string, e *route.Endpoint), item string) {
	for _, s := range subresources() {
		serve := func(c *route.Call) error { return s.serve(r, c) }
		if e := r.endpoint(s.op, s.verb, s.class, serve); e != nil {
			e.Subresource, e.Kind = s.name, s.kind(r.kind)
			add(s.method, item+"/"+s.name, e)
		}
	}
}

// Changes is the part of the store that watches read.
type Changes interface {
	// WatchFor returns the changes of a collection after an index, for a user.
	WatchFor(user string, p state.Prefix, after uint64) (*history.Cursor, error)
	// Beginning returns the oldest state of a collection that can be derived from history, and its
	// index.
	Beginning(ctx context.Context, p state.Prefix) (objects iter.Seq2[*state.Object, error], after uint64, err error)
}
