package rest

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/limit"
	"quorate/apiserver/objects/apply"
	"quorate/apiserver/objects/patch"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/negotiate"
	"quorate/apiserver/wire/status"
	"quorate/raftstore/state"
)

// owners holds who keeps the managed fields of a kind's objects, by the endpoint that writes them.
type owners struct{ main, status, finalize, scale *apply.Manager }

func newOwners(k *schema.Kind) owners {
	main := apply.New(k, "", schema.Update)
	o := owners{main: main, status: main.Endpoint("status", schema.UpdateStatus), finalize: main.Endpoint("finalize", schema.Finalize)}
	if k.Scale != nil {
		o.scale = main.Endpoint(scaleSubresource, schema.Update)
	}
	return o
}

// of returns the owners for an operation that is not about the scale.
func (o *owners) of(operation schema.Operation) *apply.Manager {
	switch operation {
	case schema.UpdateStatus:
		return o.status
	case schema.Finalize:
		return o.finalize
	}
	return o.main
}

// applyCall is a server-side apply.
type applyCall struct {
	*resource
	c       *route.Call
	w       *write
	config  *apply.Config
	options apply.Options
}

// applies reports whether a PATCH request is a server-side apply. beginPatch refuses types of
// patches that are not supported.
func applies(c *route.Call) bool {
	kind, err := patch.TypeOf(c.R.Header.Get("Content-Type"))
	return err == nil && kind == patch.Apply
}

// beginApply reads a request in the order in which its errors take precedence, as begin does. r is
// the resource whose objects the body contains.
func (r *resource) beginApply(c *route.Call) (*applyCall, error) {
	as, err := r.represent(c)
	if err != nil {
		return nil, err
	}
	body, err := c.Body()
	if err != nil {
		return nil, err
	}
	a := &applyCall{resource: r, c: c, w: &write{as: as, applied: true}}
	if err := a.w.readOptions(c, patchOptionsKind); err != nil {
		return nil, err
	}
	if err := a.readOptions(); err != nil {
		return nil, err
	}
	if err := c.Expand(negotiate.Expansion(body, negotiate.SourceYAML)); err != nil {
		return nil, err
	}
	if !json.Valid(body) {
		if body, err = schema.YAMLToJSON(body, route.MaxBodyBytes); err != nil {
			return nil, limit.Carry(err, status.NewBadRequest("error decoding YAML: "+err.Error()))
		}
	}
	if err := c.Expand(r.storedObject(c).applied(schema.JSONExpansion(body))); err != nil {
		return nil, err
	}
	if c.Recording != nil {
		c.Recording.KeepRequest(body)
	}
	a.config, err = apply.Parse(body)
	return a, err
}

// readOptions reads the parameters that only an apply has. It needs a manager: the User-Agent would
// change with the client's version, and the fields of the old one would stay for ever.
func (a *applyCall) readOptions() error {
	q := a.c.Query()
	manager := q.Get("fieldManager")
	if manager == "" {
		return status.NewInvalidOption(patchOptionsKind, field.Required(field.NewPath("fieldManager"), "is required for apply patch"))
	}
	force, err := q.Bool("force")
	a.options = apply.Options{Manager: manager, Force: force, Now: a.c.Now}
	return err
}

// applyAs applies the body to an object, or to the part of it that the operation may change. If
// there is no object, the body becomes one, but not through a subresource.
func (r *resource) applyAs(c *route.Call, operation schema.Operation) error {
	a, err := r.beginApply(c)
	if err != nil {
		return err
	}
	owner := r.owners.of(operation)
	u := r.newUpdate(c, a.w, operation)
	u.creates = operation == schema.Update
	u.conditional = a.conditional()
	u.derive = func(_ context.Context, previous *state.Object) (*schema.Object, error) {
		return a.derive(owner, r.kind, a.config, previous)
	}
	return u.run()
}

// applyScale applies the replicas of a scale to its object.
func (r *resource) applyScale(c *route.Call) error {
	a, err := r.scale.beginApply(c)
	if err != nil {
		return err
	}
	config, err := a.config.OfScale(r.kind)
	if err != nil {
		return err
	}
	u := r.newUpdate(c, a.w, schema.Update)
	u.answers = r.scale
	u.conditional = a.conditional()
	u.derive = func(ctx context.Context, previous *state.Object) (*schema.Object, error) {
		o, err := a.derive(r.owners.scale, r.kind, config, previous)
		if err != nil {
			return nil, err
		}
		return u.mutateApplied(ctx, o, previous)
	}
	return u.run()
}

// conditional reports whether the body names the version that it is meant for.
func (a *applyCall) conditional() bool {
	version, _ := a.config.Value("metadata", "resourceVersion").(string)
	return version != "" && version != "0"
}

// derive applies a configuration to a stored object, or to nothing.
func (a *applyCall) derive(owner *apply.Manager, k *schema.Kind, config *apply.Config, previous *state.Object) (*schema.Object, error) {
	var live *schema.Object
	if previous != nil {
		var err error
		if live, err = stored.Decode(k, previous); err != nil {
			return nil, err
		}
	}
	o, problems, err := owner.Apply(live, config, a.options)
	if err != nil {
		return nil, err
	}
	dropped := slices.Concat(a.config.Problems(), problems.List())
	a.w.countDropped(a.c, len(dropped))
	if a.w.validation == validateStrict && len(dropped) > 0 {
		return nil, status.NewBadRequest("error strict decoding YAML: " + strings.Join(dropped, ", "))
	}
	a.w.warnDropped(a.c, o, dropped)
	if previous == nil && o.Name() == "" {
		o.SetName(a.c.Name)
	}
	return o, a.checkPath(a.c, o)
}

// attribute brings the managed fields of an object up to date after a write that is not an apply.
// previous is nil for a create. An object that was never applied has none.
func (w *write) attribute(owner *apply.Manager, c *route.Call, o, previous *schema.Object) error {
	if w.applied {
		return nil
	}
	return owner.Update(previous, o, w.managerOf(c.R), c.Now)
}

// managerOf returns the manager of a write: the parameter fieldManager, or else the program that
// the User-Agent begins with.
func (w *write) managerOf(r *http.Request) string {
	if w.manager != "" {
		return w.manager
	}
	program, _, _ := strings.Cut(r.UserAgent(), "/")
	var b strings.Builder
	for _, c := range program {
		if !strconv.IsPrint(c) {
			continue
		}
		if b.Len()+len(string(c)) > maxManagerBytes {
			break
		}
		b.WriteRune(c)
	}
	return b.String()
}

// encode encodes o, which is to replace previous, whose decoded form is old. unchanged means that
// there is nothing to write: the two differ at most in the times of their managed fields.
func encode(o, old *schema.Object, previous *state.Object) (next *state.Object, unchanged bool) {
	next, encoded := stored.Encode(o)
	if encoded.SameAs(previous) {
		return next, true
	}
	if !apply.SameButTimes(o.ManagedFields(), old.ManagedFields()) {
		return next, false
	}
	same := o.Copy()
	same.KeepManagedFields(old)
	_, encoded = stored.Encode(same)
	return next, encoded.SameAs(previous)
}
