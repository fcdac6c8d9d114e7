package rest

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/deletion"
	"quorate/apiserver/route"
	"quorate/apiserver/schema"
	"quorate/apiserver/status"
	"quorate/apiserver/stored"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// replacement is a replace at work. It is derived from one stored object after the other until one holds still.
type replacement struct {
	*resource
	c     *route.Call
	w     *write
	key   state.Key
	fresh bool // the state at hand is confirmed, so a refusal may be decided from it
}

// errStale asks for another attempt from a confirmed state.
var errStale = errors.New("decided from a state that may be stale")

// replace stores the body in place of an object (E1–E34).
func (r *resource) replace(c *route.Call) error {
	w, err := r.begin(c, "UpdateOptions")
	if err != nil {
		return err
	}
	o, err := r.decode(c, w)
	if err != nil {
		return err
	}
	switch name := o.Name(); {
	case name == "": // E8
		return status.NewBadRequest(fmt.Sprintf(
			"the name of the object (%s based on URL) was undeterminable: name must be provided", c.Name))
	case name != c.Name: // E7
		return status.NewBadRequest(fmt.Sprintf(
			"the name of the object (%s) does not match the name on the URL (%s)", name, c.Name))
	}
	if _, err := r.namespace(c, o); err != nil {
		return err
	}
	version := o.ResourceVersion()
	if _, err := strconv.ParseUint(version, 10, 64); version != "" && err != nil {
		return status.NewInvalid(c.Subject(), field.ErrorList{field.Invalid(
			field.NewPath("metadata", "resourceVersion"), version, "must be a decimal number")})
	}
	ctx, cancel, err := c.Deadline(writeDeadline)
	if err != nil {
		return err
	}
	defer cancel()
	p := &replacement{resource: r, c: c, w: w, key: stored.Key(r.kind, c.Namespace, c.Name)}
	return p.run(ctx, o)
}

// run derives and writes until the store takes it, or refuses for good. The first attempt uses the decoded body, later ones
// decode it again, as preparing changes an object.
func (p *replacement) run(ctx context.Context, o *schema.Object) error {
	conditional := o.ResourceVersion() != "" && o.ResourceVersion() != "0"
	read := raftstore.Cached()
	for {
		root, err := p.store.View(ctx, read)
		if err != nil {
			return err
		}
		err = p.attempt(ctx, root.Get(p.key), o)
		conflict, moved := errors.AsType[*state.Conflict](err)
		_, gone := errors.AsType[*state.NotFound](err)
		_, recreated := errors.AsType[*state.UIDMismatch](err)
		_, appeared := errors.AsType[*nameTaken](err)
		switch {
		case errors.Is(err, errStale), gone, recreated:
			read, p.fresh = raftstore.Quorum(), true
		case moved && !conditional:
			read, p.fresh = raftstore.AtLeast(conflict.Have), false
		case appeared && p.kind.Strategy.AllowCreateOnUpdate:
			read, p.fresh = raftstore.Quorum(), true
		default:
			return err
		}
		if err := ctx.Err(); err != nil {
			return status.NewContention(p.c.Subject()) // nothing was written: every attempt was refused
		}
		if o, err = p.again(); err != nil {
			return err
		}
	}
}

// again decodes the body anew. What it has to warn of, it has.
func (p *replacement) again() (*schema.Object, error) {
	o, _, err := p.kind.Decode(p.w.body)
	if err != nil {
		return nil, err
	}
	_, err = p.namespace(p.c, o)
	return o, err
}

// attempt derives from one stored object and writes.
func (p *replacement) attempt(ctx context.Context, previous *state.Object, o *schema.Object) error {
	if previous == nil {
		return p.missing(ctx, o)
	}
	if err := p.checkPreconditions(previous, o); err != nil {
		return p.refuse(err)
	}
	old, err := stored.Decode(p.kind, previous)
	if err != nil {
		return err
	}
	p.kind.PrepareUpdate(schema.Update, o, old)
	if errs := p.kind.ValidateUpdate(schema.Update, o, old); len(errs) > 0 {
		return p.refuse(status.NewInvalid(p.c.Subject(), errs))
	}
	p.kind.Canonicalize(schema.Update, o, old)
	next, encoded := stored.Encode(o)
	if err := checkSize(next); err != nil {
		return err
	}
	if encoded.SameAs(previous) { // E20
		if err := p.refuse(nil); err != nil {
			return err
		}
		return p.respond(p.c, p.w, previous)
	}
	if p.w.dryRun {
		return p.respondDry(p.c, p.w, o)
	}
	return p.write(ctx, previous, next, o)
}

// refuse returns err once it is decided from a confirmed state, and asks for one until then.
func (p *replacement) refuse(err error) error {
	if !p.fresh {
		return errStale
	}
	return err
}

// missing answers for a name that is not there (E11, E12).
func (p *replacement) missing(ctx context.Context, o *schema.Object) error {
	if !p.fresh {
		return errStale
	}
	if !p.kind.Strategy.AllowCreateOnUpdate {
		return status.NewNotFound(p.c.Subject())
	}
	if v := o.ResourceVersion(); v != "" && v != "0" {
		return status.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	if uid := o.UID(); uid != "" {
		return status.NewUIDConflict(p.c.Subject(), uid, "")
	}
	if err := p.namespaceOpen(ctx, p.c); err != nil {
		return err
	}
	return p.insertNamed(ctx, p.c, p.w, o)
}

// checkPreconditions compares resourceVersion and uid of the body with what is stored (E2–E6).
func (p *replacement) checkPreconditions(previous *state.Object, o *schema.Object) error {
	version := o.ResourceVersion()
	if version == "" || version == "0" {
		if !p.kind.Strategy.AllowUnconditionalUpdate {
			return status.NewInvalid(p.c.Subject(), field.ErrorList{field.Invalid(
				field.NewPath("metadata", "resourceVersion"), version, "must be specified for an update")})
		}
	} else if want, _ := strconv.ParseUint(version, 10, 64); want != previous.Version {
		return status.NewModified(p.c.Subject())
	}
	if uid := o.UID(); uid != "" && uid != previous.UID {
		return status.NewUIDConflict(p.c.Subject(), uid, previous.UID)
	}
	return nil
}

// write writes: an update, or the removal of an object that nothing holds any longer (E16).
func (p *replacement) write(ctx context.Context, previous, next *state.Object, o *schema.Object) error {
	var written *state.Object
	var err error
	if deletion.Complete(o) {
		written, err = p.store.Delete(ctx, raftstore.Delete{Key: p.key, Previous: previous, UID: previous.UID, Final: next})
	} else {
		written, err = p.store.Update(ctx, raftstore.Update{Key: p.key, Previous: previous, UID: previous.UID, Object: next})
	}
	if err != nil {
		return err
	}
	return p.respond(p.c, p.w, written)
}
