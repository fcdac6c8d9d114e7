package apiserver

import (
	"slices"

	"quorate/apiserver/access/admission"
	"quorate/apiserver/access/audit"
	"quorate/apiserver/access/auth"
	"quorate/apiserver/access/budget"
	"quorate/apiserver/access/rbac"
	"quorate/apiserver/access/requestlog"
	"quorate/apiserver/access/review"
	"quorate/apiserver/admin"
	"quorate/apiserver/controllers/custom"
	"quorate/apiserver/controllers/garbage"
	"quorate/apiserver/controllers/lifecycle"
	"quorate/apiserver/controllers/webhooks"
	"quorate/apiserver/describe/discovery"
	"quorate/apiserver/describe/openapi"
	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/validation"
	"quorate/apiserver/rates"
	"quorate/apiserver/rest"
	"quorate/apiserver/rest/paging"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/rest/watch"
	"quorate/apiserver/wire/h2"
	"quorate/apiserver/wire/negotiate"
	"quorate/apiserver/wire/webhook"
)

// New builds a server. It starts nothing.
func New(cfg Config) (*Server, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	catalog, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		return nil, err
	}
	answers := webhook.NewAnswers(cfg.Registerer)
	served, err := custom.New(custom.Config{
		Store: cfg.Store, Catalog: catalog, Logger: cfg.Logger, Registerer: cfg.Registerer, Answers: answers,
		OtherBuild: cfg.otherBuild,
	})
	if err != nil {
		return nil, err
	}
	access, err := rbac.New(rbac.Config{Store: cfg.Store, Catalog: catalog, Logger: cfg.Logger, Registerer: cfg.Registerer})
	if err != nil {
		return nil, err
	}
	h, err := newHandler(cfg, access)
	if err != nil {
		return nil, err
	}
	dispatcher := admission.New(admission.Config{
		Authorizer: access, Registerer: cfg.Registerer, Answers: answers, Reached: h.metrics.countReached,
	})
	follower, err := webhooks.New(webhooks.Config{
		Store: cfg.Store, Catalog: catalog, Dispatcher: dispatcher, Logger: cfg.Logger, Registerer: cfg.Registerer,
	})
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg:      cfg,
		catalog:  catalog,
		access:   access,
		webhooks: follower,
		health:   newHealth(cfg.Store, served.Ready, access.Ready, follower.Ready),
		log:      cfg.Logger.With("component", "apiserver"),
	}
	s.lifecycle, err = lifecycle.New(lifecycle.Config{
		Store: cfg.Store, Catalog: catalog, CatalogOf: served.CatalogOf, EventTTL: cfg.EventTTL, Logger: cfg.Logger,
		Registerer: cfg.Registerer,
	})
	if err != nil {
		return nil, err
	}
	s.garbage = garbage.New(garbage.Config{
		Store: cfg.Store, Catalog: served.Catalog, Logger: cfg.Logger, Registerer: cfg.Registerer,
	})
	s.streams = watch.New(h.shares.admitWatch, cfg.Registerer)
	if err := s.register(h, catalog, served, dispatcher); err != nil {
		return nil, err
	}
	s.metrics, s.seats = h.metrics, h.seats
	s.authenticator = h.authenticator
	s.requests, s.audit = h.requests, h.audit
	s.http = newHTTPServer(cfg, h, s.log)
	// HTTP/2 by our own package: half the processor time of net/http's for a GET or a watch event
	// (apiserver/wire/h2/DESIGN.md).
	if err := h2.Configure(s.http, h2.Options{Registerer: cfg.Registerer, ResponseTimeout: cfg.Limits.AnswerTimeout}); err != nil {
		return nil, err
	}
	s.http.MaxHeaderBytes = maxHeaderBytes1 // of HTTP/1: h2 has taken its own
	return s, nil
}

// maxEncodedBytes is the memory that lists in protobuf may take together until they are sent. Those
// that find it spent are encoded twice.
const maxEncodedBytes = 128 << 20

// maxSelectorBytes is the memory that the selectors of open watches may take together, and
// maxSelectorBytesPerUser what those of one user may. Both may take shortSelectorBytes for each
// watch that the limits allow, if that is more: an object's name and the like.
const (
	maxSelectorBytes        = 64 << 20
	maxSelectorBytesPerUser = maxSelectorBytes / 2
	shortSelectorBytes      = 512
)

func newSelectorBytes(l Limits, m *metrics) *budget.Pool {
	cfg := budget.Config{
		Total:   max(maxSelectorBytes, shortSelectorBytes*int64(l.Watches)),
		PerUser: max(maxSelectorBytesPerUser, shortSelectorBytes*int64(l.Shares.WatchesPerUser)),
	}
	cfg.Refused = m.refusals("selector-bytes", cfg)
	return budget.New(cfg)
}

// newBodies returns the budget for the memory of request bodies.
func newBodies(l Limits, m *metrics) *budget.Pool {
	cfg := route.BodyShares(l.BodyBytes)
	cfg.Refused = m.refusals("body-bytes", cfg)
	return budget.New(cfg)
}

// newHandler returns a handler without routes.
func newHandler(cfg Config, access *rbac.Evaluator) (*handler, error) {
	authenticator, err := auth.NewAuthenticator(cfg.SigningKey, cfg.TokenFile)
	if err != nil {
		return nil, err
	}
	seats, err := newSeats(cfg)
	if err != nil {
		return nil, err
	}
	m := newMetrics(cfg.Registerer)
	h := &handler{
		table:         route.NewTable(),
		open:          route.NewTable(),
		authenticator: authenticator,
		access:        access,
		seats:         seats,
		services: route.Services{
			Authorizer: access,
			Answers:    newAnswers(cfg.Limits.AnswerBytes, m),
			Bodies:     newBodies(cfg.Limits, m),
			Decodings:  route.NewDecodings(m.queueRefusals("decodings", "user")),
			Encoded:    route.NewBudget(maxEncodedBytes, m.unkept.Inc),
		},
		selectorBytes: newSelectorBytes(cfg.Limits, m),
		shares:        newShares(cfg.Limits, m),
		failures:      newAuthFailures(cfg.Limits.Shares.AuthFailureRate, m),
		metrics:       m,
		requests:      requestlog.New(cfg.RequestPolicy, cfg.RequestLogger, cfg.Registerer),
		log:           cfg.Logger.With("component", "apiserver"),
		fixed:         newFixedHeaders(),
	}
	h.services.Faults = h
	if cfg.AuditPolicy != nil {
		h.audit = audit.New(audit.Config{Policy: cfg.AuditPolicy, Sinks: cfg.AuditSinks, Logger: h.log, Registerer: cfg.Registerer})
	}
	h.ids.prefix = newRequestIDs()
	m.watchHandler(cfg.Registerer, h)
	return h, nil
}

// register adds the routes of the handler.
func (s *Server) register(h *handler, catalog *schema.Catalog, served *custom.Served, dispatcher *admission.Dispatcher) error {
	var err error
	if h.services.Statuses, err = negotiate.NewStatuses(catalog); err != nil {
		return err
	}
	series := route.NewMetrics(s.cfg.Registerer)
	h.unrouted = series.Series("none", "none")
	adder := func(table *route.Table) func(method, path string, e *route.Endpoint) {
		return func(method, path string, e *route.Endpoint) {
			eachEndpoint(e, func(e *route.Endpoint) { e.Series = series.Series(e.Verb, kindLabel(e)) })
			table.Add(method, path, e)
		}
	}
	pages, err := paging.New(s.cfg.SigningKey)
	if err != nil {
		return err
	}
	objects, err := rest.New(rest.Config{
		Catalog: catalog, Store: s.cfg.Store, Streams: s.streams, Continue: pages, QuorumRead: s.cfg.QuorumRead, Grants: s.access,
		SelectorBytes: h.selectorBytes, Admission: dispatcher,
		StoreOf: func(k *schema.Kind) rest.Store {
			return s.webhooks.StoreOf(k, s.access.StoreOf(k, served.StoreOf(k, s.cfg.Store)))
		},
	})
	if err != nil {
		return err
	}
	address := s.cfg.AdvertiseAddr
	if address == "" {
		address = s.cfg.Addr
	}
	listed := slices.Concat(catalog.Kinds(), review.Kinds(catalog))
	schemas, err := openapi.New(openapi.Config{Kinds: listed, Catalog: catalog})
	if err != nil {
		return err
	}
	documents, err := discovery.New(discovery.Config{
		Kinds: listed, Address: address, Paths: append(ownPaths(), schemas.Paths()...),
	})
	if err != nil {
		return err
	}
	s.dynamic = newDynamic(served, objects, s.cfg.Store, documents, schemas, series)
	h.dynamic = s.dynamic
	objects.Register(adder(h.table))
	review.Register(adder(h.table), review.Config{Catalog: catalog, Reviewer: h.access, Authenticator: h.authenticator})
	if s.cfg.Cluster != nil {
		admin.Register(adder(h.table), s.cfg.Cluster)
	}
	admin.RegisterLog(adder(h.table), s.cfg.Store)
	s.rates = rates.New(rates.Config{Store: s.cfg.Store, Totals: series.Totals, Logger: s.log})
	s.rates.Register(adder(h.table))
	documents.Register(adder(h.table), func(c *route.Call) *discovery.Documents { return s.dynamic.known(c).documents })
	schemas.Register(adder(h.table), func(c *route.Call) *openapi.Documents { return s.dynamic.known(c).schemas })
	registerPaths(adder(h.table), s.cfg.Gatherer, catalog)
	return registerOpen(adder(h.open), s.health, s.cfg.Build, s.cfg.ReportedVersion)
}

// eachEndpoint calls fn with the endpoints of a route.
func eachEndpoint(e *route.Endpoint, fn func(e *route.Endpoint)) {
	fn(e)
	if e.Watch != nil {
		fn(e.Watch)
	}
}

// kindLabel is an endpoint's kind in metrics.
func kindLabel(e *route.Endpoint) string {
	if e.Subject.Kind == "" {
		return "none"
	}
	return e.Subject.Kind
}
