package route

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/julienschmidt/httprouter"

	"quorate/apiserver/wire/status"
)

// Table maps methods and paths to endpoints. All calls of Add must precede the first call of Find;
// after that, it is safe for concurrent use.
type Table struct {
	router  *httprouter.Router
	methods []string
}

// NewTable returns an empty table.
func NewTable() *Table { return &Table{router: httprouter.New()} }

// Add registers an endpoint. Segments of the path may be the wildcards :namespace and :name.
// Plurals are literals, because the router does not allow a literal and a wildcard at the same
// position.
func (t *Table) Add(method, path string, e *Endpoint) {
	if !slices.Contains(t.methods, method) {
		t.methods = append(t.methods, method)
		slices.Sort(t.methods)
	}
	t.router.Handle(method, path, func(w http.ResponseWriter, _ *http.Request, params httprouter.Params) {
		w.(*match).endpoint, w.(*match).params = e, params
	})
}

// match receives the endpoint and parameters that the router finds. It implements
// http.ResponseWriter because the router passes one to its handles.
type match struct {
	http.ResponseWriter
	endpoint *Endpoint
	params   httprouter.Params
}

// Find sets the endpoint, namespace and name of a call from the method and path of its request. If
// there is no endpoint, it returns false and the methods that the path has, if any.
func (t *Table) Find(c *Call) (allow string, ok bool) {
	path := c.R.URL.Path
	escaped := c.R.URL.RawPath != ""
	if escaped {
		// Split the path before decoding its segments, so that an encoded slash stays in its
		// segment (B35).
		path = c.R.URL.RawPath
	}
	handle, params, _ := t.router.Lookup(c.R.Method, path)
	if handle == nil {
		allow, c.temporary().about = t.allowed(path, escaped)
		return allow, false
	}
	found := &c.temporary().match
	handle(found, nil, params)
	for i := range params {
		value, ok := segment(params[i].Value, escaped)
		if !ok {
			return "", false
		}
		if params[i].Key == "namespace" {
			c.Namespace = value
		} else {
			c.Name = value
		}
	}
	c.Endpoint = found.endpoint
	if c.Endpoint.NamesNamespace {
		// The router requires one name for all wildcards at the same position, so the name may be
		// in Namespace.
		c.Name, c.Namespace = c.Namespace, ""
	}
	return "", true
}

// segment decodes a path segment. ok is false if it is not a valid name.
func segment(s string, escaped bool) (decoded string, ok bool) {
	if escaped {
		var err error
		if s, err = url.PathUnescape(s); err != nil {
			return "", false
		}
	}
	return s, s != "" && s != "." && s != ".." && !strings.Contains(s, "\x00")
}

// allowed returns the methods that a path has, for the Allow header, and the subject of its
// endpoints (I5).
func (t *Table) allowed(path string, escaped bool) (allow string, about status.Subject) {
	var methods []string
	for _, method := range t.methods {
		handle, params, _ := t.router.Lookup(method, path)
		if handle == nil || !wellFormed(params, escaped) {
			continue
		}
		methods = append(methods, method)
		var m match
		handle(&m, nil, nil)
		about = m.endpoint.Subject
	}
	return strings.Join(methods, ", "), about
}

func wellFormed(params httprouter.Params, escaped bool) bool {
	for i := range params {
		if _, ok := segment(params[i].Value, escaped); !ok {
			return false
		}
	}
	return true
}
