package apiserver

import (
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"quorate/apiserver/access/audit"
	"quorate/apiserver/access/auth"
	"quorate/apiserver/access/budget"
	"quorate/apiserver/access/rbac"
	"quorate/apiserver/access/requestlog"
	"quorate/apiserver/limit"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/negotiate"
	"quorate/apiserver/wire/status"
)

// handler serves every request: it authenticates, routes, authorizes and admits it, calls the
// handler, then counts, logs and releases its memory.
type handler struct {
	table         *route.Table
	dynamic       *dynamic
	open          *route.Table // paths that need no credentials
	authenticator *auth.Authenticator
	access        *rbac.Evaluator
	seats         *seats
	services      route.Services
	selectorBytes *budget.Pool
	shares        *shares
	failures      *authFailures
	metrics       *metrics
	unrouted      *route.Series // of requests without an endpoint
	requests      *requestlog.Log
	audit         *audit.Log // nil without a policy
	log           *slog.Logger
	ids           requestIDs
	fixed         fixedHeaders
	crossOrigin   http.CrossOriginProtection // the zero value refuses writes from pages of all other origins
}

// fixedHeaders are header values that all answers share; net/http only reads them.
type fixedHeaders struct{ cacheControl, noSniff, challenge []string }

func newFixedHeaders() fixedHeaders {
	return fixedHeaders{
		cacheControl: []string{"no-cache, private"},
		noSniff:      []string{"nosniff"},
		challenge:    []string{`Bearer realm="platform"`},
	}
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	trimSlash(r)
	x := &exchange{ResponseWriter: w, handler: h, series: h.unrouted}
	x.call = route.Call{W: x, R: r, Now: time.Now(), Services: &h.services}
	x.chargeWaiting()
	x.call.ID[0] = h.ids.next()
	later := false
	defer func() {
		if !later {
			h.finish(x, recover())
		}
	}()
	header := w.Header()
	header["Audit-Id"] = x.call.ID[:]
	header["Cache-Control"] = h.fixed.cacheControl
	if err := h.serve(x); err != nil {
		h.fail(x, err)
		return
	}
	if x.call.Next != nil {
		later = x.runNext()
	}
}

// trimSlash removes a trailing slash from the path of a GET under /api, /apis or /oapi, or of
// /version, because stock clients send one. Other methods keep it and find no route (B35), as do
// health checks, metrics and OpenAPI, whose paths a stock server compares exactly. The audit log
// records the URI as sent.
func trimSlash(r *http.Request) {
	path, ok := strings.CutSuffix(r.URL.Path, "/")
	if !ok || r.Method != http.MethodGet {
		return
	}
	switch first := firstSegment(path); {
	case path == "/version", first == "api", first == "apis", first == "oapi":
		r.URL.Path = path
		r.URL.RawPath = strings.TrimSuffix(r.URL.RawPath, "/")
	}
}

func (h *handler) serve(x *exchange) error {
	c := &x.call
	if err := checkHeader(c.R); err != nil {
		return err
	}
	if strings.Count(c.R.URL.RawQuery, "&") >= route.MaxParameters {
		return limit.Reached(limit.QueryParameters, status.NewBadRequest("the query has too many parameters: limit is "+strconv.Itoa(route.MaxParameters)))
	}
	open := isOpen(c.R.URL.Path)
	if open && !hasCredentials(c) {
		return h.dispatch(x, h.open)
	}
	credential, ambient, err := h.credential(c)
	if err != nil {
		return limit.Carry(err, h.failures.refuse(c.R.Context(), c.R.RemoteAddr, c.Now)) // even where no credentials are needed (J5)
	}
	if open {
		c.Voluntary = credential.User
		return h.dispatch(x, h.open)
	}
	if ambient {
		if err := h.crossOrigin.Check(c.R); err != nil {
			h.metrics.crossOrigin.Inc()
			return status.NewForbiddenPath("a page of another origin may not use a client certificate; send a bearer token")
		}
	}
	c.Authenticate(credential)
	if err := h.known(c.User); err != nil {
		return err
	}
	if auth.Impersonates(c.R.Header) {
		if err := h.impersonate(x); err != nil {
			return err
		}
	}
	return h.dispatch(x, h.table)
}

// checkHeader refuses a header of HTTP/1 that is too long. Package h2 refuses those of HTTP/2.
func checkHeader(r *http.Request) error {
	if r.ProtoMajor != 1 {
		return nil
	}
	size := len(r.RequestURI)
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(value)
		}
	}
	if size > maxHeaderBytes {
		return limit.Reached(limit.HeaderSize, status.NewHeaderTooLarge(maxHeaderBytes))
	}
	return nil
}

// hasCredentials reports whether a request has a header or a certificate to authenticate it.
func hasCredentials(c *route.Call) bool {
	if _, given := c.R.Header["Authorization"]; given {
		return true
	}
	_, ok := auth.OfCertificate(c.R.TLS, c.Now)
	return ok
}

// known returns an error until the roles are loaded: before that neither an approval nor a denial
// would be certain.
func (h *handler) known(u *auth.User) error {
	if err := h.access.Ready(); err != nil && !u.In(auth.MastersGroup) {
		return status.NewUnavailable(err.Error())
	}
	return nil
}

// impersonate replaces the user of the request by the one that its headers name, if the sender may
// impersonate that user (J12).
func (h *handler) impersonate(x *exchange) error {
	c := &x.call
	asked, err := auth.ReadImpersonation(c.R.Header)
	if err != nil {
		return status.NewBadRequest(err.Error())
	}
	for i := range asked.Needs {
		need := &asked.Needs[i]
		if !h.access.Allows(c.User, need) {
			about := status.Subject{Group: need.Group, Plural: need.Resource, Name: need.Name}
			return status.NewForbidden(about, auth.Denial(c.User, need))
		}
	}
	c.User = asked.User
	return h.known(c.User)
}

// credential returns the token of a request or, where it has none, its client certificate. A
// certificate is ambient: a browser sends it with every request, whichever page asked for it.
func (h *handler) credential(c *route.Call) (credential auth.Credential, ambient bool, err error) {
	if _, given := c.R.Header["Authorization"]; !given {
		if credential, ok := auth.OfCertificate(c.R.TLS, c.Now); ok {
			return credential, true, nil
		}
	}
	credential, err = h.authenticator.Authenticate(c.R.Header, c.Now)
	return credential, false, err
}

// firstSegment returns what is between the first two slashes of a path.
func firstSegment(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first
}

// isOpen reports whether a path is served without credentials: health, the version (semantics Z13),
// and the files of the console, which contain no data.
func isOpen(path string) bool {
	switch firstSegment(path) {
	case "livez", "readyz", "healthz", "version", "console":
		return true
	}
	return false
}

func (h *handler) dispatch(x *exchange, table *route.Table) error {
	c := &x.call
	allow, ok, err := h.find(c, table)
	if err != nil {
		return err
	}
	if !ok {
		if allow != "" {
			return status.NewMethodNotAllowed(c.Subject(), allow)
		}
		return status.NewNoRoute()
	}
	if err := h.chooseWatch(c); err != nil {
		return err
	}
	h.beginAudit(x)
	e := c.Endpoint
	if c.R.URL.RawQuery != "" && e.Verb != route.VerbWatch { // watches ignore the parameter (D30)
		if _, err := c.Query().Timeout(); err != nil {
			return err
		}
	}
	x.series = e.Series
	if c.User != nil && e.LateAuthorization {
		if err := c.AuthorizeSomewhere(); err != nil {
			return err
		}
	} else if c.User != nil && !e.Authenticated {
		if err := c.Authorize(c.Namespace, c.ListedName()); err != nil {
			return err
		}
	}
	if err := h.shares.enter(x); err != nil {
		return err
	}
	return h.seats.serve(c)
}

// find sets the endpoint of a call from the table or, for authenticated requests that the table has
// no route for, from the kinds that definitions define. Without a route it returns the methods that
// the path allows, if any.
func (h *handler) find(c *route.Call, table *route.Table) (allow string, ok bool, err error) {
	allow, ok = table.Find(c)
	if ok || allow != "" || table != h.table {
		return allow, ok, nil
	}
	return h.dynamic.find(c, h.seats.read)
}

// chooseWatch turns a list into a watch when the query asks for it (C45).
func (h *handler) chooseWatch(c *route.Call) error {
	if c.Endpoint.Watch == nil || c.R.URL.RawQuery == "" {
		return nil
	}
	watch, err := c.Query().Bool("watch")
	if watch {
		c.Endpoint = c.Endpoint.Watch
	}
	return err
}

// asksWatch reports whether a request is for a watch, even if it failed before it had an endpoint.
func asksWatch(c *route.Call) bool {
	if c.Endpoint != nil {
		return c.Endpoint.Verb == route.VerbWatch
	}
	watch, err := c.Query().Bool("watch")
	return c.R.Method == http.MethodGet && (watch && err == nil || underWatch(c.R.URL.Path))
}

// underWatch reports whether a path is under the watch prefix of a version, as /api/v1/watch/pods
// is (D31-D33).
func underWatch(path string) bool {
	segments := strings.SplitN(path, "/", 6) // the first is empty
	at := 3
	if len(segments) > 1 && segments[1] == "apis" {
		at = 4 // behind group and version
	}
	return len(segments) > at+1 && segments[at] == "watch"
}

// fail answers with the Status of an error, or aborts a response that has begun (I29).
func (h *handler) fail(x *exchange, err error) {
	if errors.Is(err, route.ErrGone) {
		panic(http.ErrAbortHandler)
	}
	failed, mapped := status.From(err, x.call.Subject())
	if !mapped {
		h.InternalError(&x.call, err)
	}
	h.metrics.countLimit(err)
	if asksWatch(&x.call) {
		failed = status.ForWatch(failed)
	}
	x.failure = &failed.Status
	if x.code != 0 {
		panic(http.ErrAbortHandler)
	}
	header := x.Header()
	header["Cache-Control"] = h.fixed.cacheControl // the headers of the success do not hold for the failure
	delete(header, "Expires")
	delete(header, "Etag")
	header["X-Content-Type-Options"] = h.fixed.noSniff
	if failed.Allow != "" {
		header["Allow"] = []string{failed.Allow}
	}
	if d := failed.Status.Details; d != nil && d.RetryAfterSeconds > 0 {
		header["Retry-After"] = []string{strconv.Itoa(d.RetryAfterSeconds)}
	}
	if failed.Status.Code == http.StatusUnauthorized {
		header["Www-Authenticate"] = h.fixed.challenge
	}
	form, err := x.call.Form()
	if err != nil || failed.Status.Code == http.StatusNotAcceptable {
		form = negotiate.JSON // nothing acceptable: the body is JSON all the same (B23)
	}
	if err := x.call.Status(failed.Status.Code, &failed.Status, form); err != nil {
		h.log.Error("answer with a Status", "request", x.call.ID[0], "error", err)
	}
}

// InternalError implements route.Faults.
func (h *handler) InternalError(c *route.Call, err error) {
	h.metrics.unmapped.Inc()
	h.log.Error("request failed with an internal error", "request", c.ID[0], "method", requestlog.Cut(c.R.Method),
		"path", requestlog.Cut(c.R.URL.Path), "error", err)
}

// finish counts and logs a request and releases its memory, also after a panic for a reason.
func (h *handler) finish(x *exchange, reason any) {
	defer x.held.Release()
	defer x.call.Release()
	abort := false
	if reason != nil {
		abort = h.recovered(x, reason)
	}
	took := time.Since(x.call.Now)
	x.series.Observe(x.code, took)
	h.metrics.sent.Add(float64(x.bytes))
	if x.late {
		h.metrics.reached[limit.AnswerTime].Inc()
	}
	h.logRequest(x, took)
	h.endAudit(x)
	if abort {
		// net/http resets the stream, so that the client does not mistake a part for the whole.
		panic(http.ErrAbortHandler)
	}
}

// recovered answers for a handler that panicked (I27); abort is true if a response that has begun
// must be aborted.
func (h *handler) recovered(x *exchange, reason any) (abort bool) {
	if err, ok := reason.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		return true
	}
	x.panicked = true
	h.metrics.panics.Inc()
	h.log.Error("handler panicked", "request", x.call.ID[0], "method", requestlog.Cut(x.call.R.Method),
		"path", requestlog.Cut(x.call.R.URL.Path), "reason", reason, "stack", string(debug.Stack()))
	if x.code != 0 {
		return true
	}
	h.fail(x, status.NewInternal("this request caused the server to panic; look in its log for request "+x.call.ID[0]))
	return false
}
