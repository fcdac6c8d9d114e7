package rest

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/limit"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/negotiate"
	"quorate/apiserver/wire/status"
	"quorate/raftstore/state"
)

// maxManagerBytes limits the name of a field manager (A54).
const maxManagerBytes = 128

// The values of fieldValidation that have an effect.
const (
	validateWarn   = "Warn"
	validateStrict = "Strict"
)

// write holds the body and options of a create, replace or patch.
type write struct {
	as         representation
	body       negotiate.Body
	created    bool // the response is that of a creation
	dryRun     bool
	validation string
	manager    string // the parameter fieldManager
	applied    bool   // a server-side apply, which brings the managed fields along
	stored     storedObject
	creation   *admitted // nil if no webhook is called about a creation
	warnings   []string  // Warning headers that do not depend on the object

	droppedCounted bool // countDropped was called
}

// begin reads a write request in the order in which its errors take precedence: Accept,
// Content-Type, size, options (A61).
func (r *resource) begin(c *route.Call, options string) (*write, error) {
	as, err := r.represent(c)
	if err != nil {
		return nil, err
	}
	body, err := c.Body()
	if err != nil {
		return nil, err
	}
	w := &write{as: as}
	if err := w.readOptions(c, options); err != nil {
		return nil, err
	}
	source := negotiate.Sent(c.R.Header.Get("Content-Type"))
	w.stored = r.storedObject(c)
	if err := c.Expand(w.stored.replaced(negotiate.Expansion(body, source))); err != nil {
		return nil, err
	}
	if w.body, err = negotiate.NewBody(body, source, route.MaxBodyBytes); err != nil {
		return nil, err
	}
	return w, c.Expand(w.stored.replaced(w.body.Expansion())) // aliases of YAML may have expanded
}

func (w *write) readOptions(c *route.Call, options string) error {
	w.warnings = c.W.Header()["Warning"]
	w.validation = validateWarn
	if c.R.URL.RawQuery == "" {
		return nil
	}
	q := c.Query()
	var err error
	if w.dryRun, err = readDryRun(q.All("dryRun"), options); err != nil {
		return err
	}
	if w.validation, err = readValidation(q, options); err != nil {
		return err
	}
	w.manager = q.Get("fieldManager")
	return checkManager(w.manager, options)
}

// readValidation returns what becomes of unknown and duplicate fields. By default they are dropped with
// a warning (Z19); other values are 422 (A50).
func readValidation(q route.Query, options string) (string, error) {
	validation, err := q.Choice("fieldValidation", options)
	return cmp.Or(validation, validateWarn), err
}

// readDryRun reports whether the write is a dry run: every dryRun must be All (A52), else 422
// (A53).
func readDryRun(values []string, options string) (bool, error) {
	for _, v := range values {
		if err := route.CheckChoice("dryRun", v, options); err != nil {
			return false, err
		}
	}
	return len(values) > 0, nil
}

func checkManager(manager, options string) error {
	path := field.NewPath("fieldManager")
	if len(manager) > maxManagerBytes {
		return status.NewInvalidOption(options, field.TooLong(path, "", maxManagerBytes))
	}
	if strings.IndexFunc(manager, func(r rune) bool { return !strconv.IsPrint(r) }) >= 0 {
		return status.NewInvalidOption(options, field.Invalid(path, manager, "should only contain printable characters"))
	}
	return nil
}

// decode reads the body as an object of the kind. Dropped fields become warnings, or an error if
// the client is strict (A46–A49).
func (r *resource) decode(c *route.Call, w *write) (*schema.Object, error) {
	o, problems, err := w.body.Decode(r.kind)
	if err != nil {
		return nil, err
	}
	c.Expanded(w.stored.replaced(o.Memory()))
	if c.Recording != nil {
		c.Recording.KeepRequest(o.AppendJSON(nil))
	}
	w.countDropped(c, len(problems.List()))
	if w.validation == validateStrict {
		if err := r.kind.StrictError(problems); err != nil {
			return nil, err
		}
	}
	w.warnDropped(c, o, problems.List())
	return o, nil
}

// warnDropped adds a Warning header for each field that was dropped, unless fieldValidation says
// otherwise (A48), and for duplicate owners, which always warn (A23).
func (w *write) warnDropped(c *route.Call, o *schema.Object, dropped []string) {
	if header := c.W.Header(); len(header["Warning"]) > len(w.warnings) {
		header["Warning"] = slices.Clone(w.warnings) // without those of an earlier attempt
	}
	if w.validation == validateWarn {
		for _, problem := range dropped {
			Warn(c, problem)
		}
	}
	for _, uid := range o.DuplicateOwners() {
		Warn(c, fmt.Sprintf(".metadata.ownerReferences contains duplicate entries; only the first with uid %s is kept", uid))
	}
}

// countDropped counts the fields of a body that the kind does not have, once for a request that is
// attempted several times.
func (w *write) countDropped(c *route.Call, n int) {
	if n > 0 && !w.droppedCounted {
		w.droppedCounted = true
		c.Endpoint.Series.ObserveDropped(n, w.validation)
	}
}

// Warn adds a Warning header: 299 - "text", quoted.
func Warn(c *route.Call, text string) {
	c.W.Header().Add("Warning", "299 - "+strconv.QuoteToASCII(text))
}

// namespace returns the namespace of a write: that of the path, else that of the body, else the
// default (A2–A7, Z2). It sets the namespace of the body accordingly.
func (r *resource) namespace(c *route.Call, o *schema.Object) (string, error) {
	if !r.kind.Namespaced {
		o.SetNamespace("")
		return "", nil
	}
	namespace := c.Namespace
	switch own := o.Namespace(); {
	case namespace == "" && own == "":
		namespace = defaultNamespace
	case namespace == "":
		namespace = own
	case own != "" && own != namespace:
		return "", status.NewBadRequest(
			"the namespace of the provided object does not match the namespace sent on the request")
	}
	o.SetNamespace(namespace)
	return namespace, nil
}

// code returns the code of the response to a write.
func (r *resource) code(w *write) int {
	switch {
	case w.created && w.applied: // which is no operation of the specification
		return http.StatusCreated
	case w.created:
		return CreationCode(r.kind)
	}
	return http.StatusOK
}

// respond responds with the stored form of the object.
func (r *resource) respond(c *route.Call, w *write, o *state.Object) error {
	// gofail: var answerBefore struct{}
	return r.answer(c, r.code(w), &w.as, o.Value)
}

// respondDry responds with an object that was not stored.
func (r *resource) respondDry(c *route.Call, w *write, o *schema.Object) error {
	return r.answer(c, r.code(w), &w.as, o.AppendJSON(nil))
}

// checkGrants returns an error if an object grants permissions that its writer does not have (J28,
// J29).
func (r *resource) checkGrants(ctx context.Context, c *route.Call, o, old *schema.Object) error {
	why, err := r.grants.Escalation(ctx, c.User, o, old)
	if err == nil && why != "" {
		err = status.NewForbidden(c.Subject(), why)
	}
	return err
}

// checkSize returns a 413 error if the encoded object exceeds the limit for log entries (A44).
func checkSize(o *state.Object) error {
	if len(o.Value) > status.MaxObjectBytes {
		return limit.Reached(limit.ObjectSize, status.NewObjectTooLarge(status.MaxObjectBytes))
	}
	return nil
}
