package rest

import (
	"context"
	"fmt"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/status"
	"quorate/raftstore/state"
)

// replace replaces an object by the body (E1–E34).
func (r *resource) replace(c *route.Call) error {
	return r.replaceAs(c, schema.Update)
}

// replaceAs stores the part of the body that the operation may change.
func (r *resource) replaceAs(c *route.Call, operation schema.Operation) error {
	w, err := r.begin(c, "UpdateOptions")
	if err != nil {
		return err
	}
	o, err := r.decode(c, w)
	if err != nil {
		return err
	}
	if err := r.checkPath(c, o); err != nil {
		return err
	}
	u := r.newUpdate(c, w, operation)
	u.derive = func(context.Context, *state.Object) (*schema.Object, error) { return r.replacement(c, w, &o) }
	u.conditional = o.ResourceVersion() != "" && o.ResourceVersion() != "0"
	u.creates = operation == schema.Update && r.kind.Strategy.AllowCreateOnUpdate
	u.ownUID = true
	return u.run()
}

// replacement returns the decoded body. Preparing an object modifies it, so replacement decodes the
// body again on each call after the first. It adds warnings on the first call only.
func (r *resource) replacement(c *route.Call, w *write, decoded **schema.Object) (*schema.Object, error) {
	if o := *decoded; o != nil {
		*decoded = nil
		return o, nil
	}
	o, _, err := w.body.Decode(r.kind)
	if err != nil {
		return nil, err
	}
	return o, r.checkPath(c, o)
}

// checkPath checks that name and namespace of an object are those of the path (E7–E9). It fills in
// a missing namespace.
func (r *resource) checkPath(c *route.Call, o *schema.Object) error {
	switch name := o.Name(); {
	case name == "":
		return status.NewBadRequest(fmt.Sprintf(
			"the name of the object (%s based on URL) was undeterminable: name must be provided", c.Name))
	case name != c.Name:
		return status.NewBadRequest(fmt.Sprintf(
			"the name of the object (%s) does not match the name on the URL (%s)", name, c.Name))
	}
	_, err := r.namespace(c, o)
	return err
}
