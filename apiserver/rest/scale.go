package rest

import (
	"context"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/status"
	"quorate/raftstore/state"
)

// getScale responds with the scale of an object (H11), which is a view of the object.
func (r *resource) getScale(c *route.Call) error { return r.scale.get(c) }

// replaceScale sets the replicas of an object to those of the scale in the body. The
// resourceVersion and uid of the scale are preconditions.
func (r *resource) replaceScale(c *route.Call) error {
	w, err := r.scale.begin(c, "UpdateOptions")
	if err != nil {
		return err
	}
	wanted, err := r.scale.decode(c, w)
	if err != nil {
		return err
	}
	if err := r.scale.checkPath(c, wanted); err != nil {
		return err
	}
	u := r.newRescale(c, w, func(*state.Object) (*schema.Object, error) { return wanted, nil })
	u.conditional = wanted.ResourceVersion() != "" && wanted.ResourceVersion() != "0"
	u.ownUID = true
	return u.run()
}

// patchScale sets the replicas of an object by a patch of its scale, or by an apply.
func (r *resource) patchScale(c *route.Call) error {
	if applies(c) {
		return r.applyScale(c)
	}
	p, err := r.scale.beginPatch(c)
	if err != nil {
		return err
	}
	return r.newRescale(c, p.w, p.derive).run()
}

// newRescale returns an update that sets an object's replicas to those of a scale. It responds with
// the new scale.
func (r *resource) newRescale(c *route.Call, w *write, wanted func(previous *state.Object) (*schema.Object, error)) *update {
	u := r.newUpdate(c, w, schema.Update)
	u.answers, u.owner = r.scale, r.owners.scale
	u.derive = func(ctx context.Context, previous *state.Object) (*schema.Object, error) {
		scale, err := wanted(previous)
		if err != nil {
			return nil, err
		}
		if scale, err = u.mutateScale(ctx, scale, previous); err != nil {
			return nil, err
		}
		if errs := r.scale.kind.ValidateCreate(scale); len(errs) > 0 {
			subject := c.Subject()
			subject.Group, subject.Kind = r.scale.kind.Group, r.scale.kind.Kind
			return nil, status.NewInvalid(subject, errs)
		}
		o, err := stored.Decode(r.kind, previous)
		if err != nil {
			return nil, err
		}
		r.kind.Rescale(o, scale)
		return o, nil
	}
	return u
}
