package rest

import (
	"context"
	"errors"
	"hash/fnv"
	"net/http"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/access/admission"
	"quorate/apiserver/objects/apply"
	"quorate/apiserver/objects/deletion"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/status"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// update is a replace or patch of an object or subresource. It derives the new object from the
// stored one, and retries if the stored object changes concurrently.
type update struct {
	*resource
	c         *route.Call
	w         *write
	key       state.Key
	operation schema.Operation
	// derive returns the object to store in place of previous, which is nil if the object does not
	// exist and the update may create it. derive is called for each attempt and must return a new
	// object each time.
	derive func(ctx context.Context, previous *state.Object) (*schema.Object, error)
	// conditional means that the update names a version, so that a conflict is returned and not
	// retried.
	conditional bool
	// creates means that the update creates a missing object.
	creates bool
	// owner keeps the managed fields.
	owner *apply.Manager
	// answers is the resource in whose form the response contains the written object.
	answers *resource
	// ownUID means that the uid of the new object is a precondition (E5). A patch, by contrast,
	// starts from the stored uid and must not change it (F30).
	ownUID bool

	fresh bool // the state is confirmed, so that an error decided from it is final
	// admitted calls the webhooks; nil if there are none. Then each attempt begins with a confirmed
	// state, so that no webhook is asked about a write that cannot take place.
	admitted *admitted
}

// errStale requests another attempt with a confirmed state.
var errStale = errors.New("decided from a state that may be stale")

func (r *resource) newUpdate(c *route.Call, w *write, operation schema.Operation) *update {
	return &update{
		resource: r, c: c, w: w, key: stored.Key(r.kind, c.Namespace, c.Name), operation: operation, answers: r,
		owner: r.owners.of(operation),
	}
}

// run derives and writes until the object is stored or finally refused, or the deadline passes.
func (u *update) run() error {
	ctx, err := u.c.Timeout(writeDeadline)
	if err != nil {
		return err
	}
	defer ctx.Stop()
	if u.admitted, err = u.admit(ctx, u.c, u.w, admission.Update); err != nil {
		return err
	}
	read := raftstore.Cached()
	for {
		if u.admitted != nil {
			read, u.fresh = raftstore.Quorum(), true
		}
		root, err := u.store.View(ctx, read)
		if err != nil {
			return err
		}
		u.admitted.in(root)
		err = u.attempt(ctx, root.Get(u.key))
		conflict, moved := errors.AsType[*state.Conflict](err)
		_, gone := errors.AsType[*state.NotFound](err)
		_, recreated := errors.AsType[*state.UIDMismatch](err)
		_, appeared := errors.AsType[*nameTaken](err)
		switch {
		case errors.Is(err, errStale), gone, recreated:
			read, u.fresh = raftstore.Quorum(), true
		case moved && !u.conditional:
			read, u.fresh = raftstore.AtLeast(conflict.Have), false
		case appeared && u.creates:
			read, u.fresh = raftstore.Quorum(), true
		default:
			return err
		}
		if ctx.Err() != nil {
			return status.NewContention(u.c.Subject()) // nothing was written: every attempt was refused
		}
	}
}

// attempt derives the new object from one stored object and writes it.
func (u *update) attempt(ctx context.Context, previous *state.Object) error {
	if previous == nil {
		return u.missing(ctx)
	}
	o, err := u.derive(ctx, previous)
	if err != nil {
		return u.refuse(err)
	}
	if err := u.checkPreconditions(previous, o); err != nil {
		return u.refuse(err)
	}
	old, err := stored.Decode(u.kind, previous)
	if err != nil {
		return err
	}
	if u.answers == u.resource { // a scale was admitted before it became a part of the object
		if o, err = u.admitted.mutate(ctx, o, old); err != nil {
			return err
		}
	}
	u.kind.PrepareUpdate(u.operation, o, old)
	if errs := u.kind.ValidateUpdate(u.operation, o, old); len(errs) > 0 {
		return u.refuse(status.NewInvalid(u.c.Subject(), errs))
	}
	u.kind.Canonicalize(u.operation, o, old)
	if err := u.w.attribute(u.owner, u.c, o, old); err != nil {
		return err
	}
	form, err := o.Storable(ctx)
	if err != nil {
		return err
	}
	next, unchanged := encode(form, old, previous)
	if err := checkSize(next); err != nil {
		return u.refuse(err)
	}
	if !unchanged {
		if err := u.checkGrants(ctx, u.c, o, old); err != nil {
			return u.refuse(err)
		}
	}
	if err := u.validateAdmitted(ctx, o, old, next, previous); err != nil {
		return err
	}
	if !unchanged && !u.w.dryRun {
		return u.write(ctx, previous, next, o)
	}
	if err := u.refuse(nil); err != nil {
		return err
	}
	if unchanged { // respond without a write or an event (E20)
		return u.answers.respond(u.c, u.w, previous)
	}
	o.SetResourceVersion(strconv.FormatUint(previous.Version, 10))
	return u.answers.respondDry(u.c, u.w, o)
}

// refuse returns err, which is the outcome without a write, if the state is confirmed. Otherwise it
// returns errStale.
func (u *update) refuse(err error) error {
	if !u.fresh {
		return errStale
	}
	return err
}

// missing handles a name that does not exist (E11, E12, F35, H4).
func (u *update) missing(ctx context.Context) error {
	if !u.fresh {
		return errStale
	}
	if !u.creates {
		return status.NewNotFound(u.c.Subject())
	}
	if err := u.c.AuthorizeAs(route.VerbCreate, u.c.Namespace, ""); err != nil {
		return err
	}
	o, err := u.derive(ctx, nil)
	if err != nil {
		return err
	}
	if v := o.ResourceVersion(); v != "" && v != "0" {
		return status.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	if uid := o.UID(); uid != "" {
		return status.NewUIDConflict(u.c.Subject(), uid, "")
	}
	if err := u.acceptsCreates(ctx, u.c); err != nil {
		return err
	}
	if o, err = u.admitCreate(ctx, u.c, u.w, o); err != nil {
		return err
	}
	return u.insertNamed(ctx, u.c, u.w, o)
}

// checkPreconditions compares the resourceVersion and uid of the new object with those of the
// stored one (E2–E6, F29).
func (u *update) checkPreconditions(previous *state.Object, o *schema.Object) error {
	version := o.ResourceVersion()
	if version == "" || version == "0" {
		if !u.kind.Strategy.AllowUnconditionalUpdate {
			return u.invalidVersion(version, "must be specified for an update")
		}
	} else {
		want, err := strconv.ParseUint(version, 10, 64)
		if err != nil {
			return u.invalidVersion(version, "must be a decimal number")
		}
		if want != previous.Version {
			return status.NewModified(u.c.Subject())
		}
	}
	if uid := o.UID(); u.ownUID && uid != "" && uid != previous.UID {
		return status.NewUIDConflict(u.c.Subject(), uid, previous.UID)
	}
	return nil
}

func (u *update) invalidVersion(version, why string) error {
	return status.NewInvalid(u.c.Subject(), field.ErrorList{
		field.Invalid(field.NewPath("metadata", "resourceVersion"), version, why)})
}

// write stores the new object. If it is being deleted and has no finalizers left (E16), or if its
// initialization has failed, write removes it instead.
func (u *update) write(ctx context.Context, previous, next *state.Object, o *schema.Object) error {
	var written *state.Object
	var err error
	if deletion.Complete(o) || o.Initializers().Field("result").IsSet() {
		written, err = u.store.Delete(ctx, raftstore.Delete{Key: u.key, Previous: previous, UID: previous.UID, Final: next})
	} else {
		_, going := o.DeletionTimestamp() // a finalizer may have been removed
		written, err = u.store.Update(ctx, raftstore.Update{Key: u.key, Previous: previous, UID: previous.UID, Object: next, Frees: going, Client: client(u.c.R)})
	}
	if err != nil {
		return err
	}
	return u.answers.respond(u.c, u.w, written)
}

// client returns a number that identifies the connection of a request, for raftstore.Update.
func client(r *http.Request) uint64 {
	h := fnv.New64a()
	h.Write([]byte(r.RemoteAddr))
	return h.Sum64()
}
