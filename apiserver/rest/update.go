package rest

import (
	"context"
	"errors"
	"hash/fnv"
	"net/http"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/objects/deletion"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/status"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// update is a write of an object that is there: a replace or a patch, of the object or of a subresource. What to store is
// derived from one stored object after the other until one holds still.
type update struct {
	*resource
	c         *route.Call
	w         *write
	key       state.Key
	operation schema.Operation
	// derive returns what the client wants in place of previous, which is nil when the object is missing and the update may
	// create it. It is called for each attempt and returns a new object each time.
	derive func(previous *state.Object) (*schema.Object, error)
	// conditional: the client named the version that it knows, so it is told of a conflict at once.
	conditional bool
	// creates: a missing object is created.
	creates bool
	// answers is the resource that what was written is shown as.
	answers *resource
	// ownUID: the uid is the client's word for which object it means, and another one is a conflict (E5). A patch gets to see
	// the uid, and so may not change it (F30).
	ownUID bool

	fresh bool // the state at hand is confirmed, so a refusal may be decided from it
}

// errStale asks for another attempt from a confirmed state.
var errStale = errors.New("decided from a state that may be stale")

func (r *resource) newUpdate(c *route.Call, w *write, operation schema.Operation) *update {
	return &update{resource: r, c: c, w: w, key: stored.Key(r.kind, c.Namespace, c.Name), operation: operation, answers: r}
}

// run derives and writes until the store takes it, or refuses for good, or the time is up.
func (u *update) run() error {
	ctx, cancel, err := u.c.Deadline(writeDeadline)
	if err != nil {
		return err
	}
	defer cancel()
	read := raftstore.Cached()
	for {
		root, err := u.store.View(ctx, read)
		if err != nil {
			return err
		}
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

// attempt derives from one stored object and writes.
func (u *update) attempt(ctx context.Context, previous *state.Object) error {
	if previous == nil {
		return u.missing(ctx)
	}
	o, err := u.derive(previous)
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
	u.kind.PrepareUpdate(u.operation, o, old)
	if errs := u.kind.ValidateUpdate(u.operation, o, old); len(errs) > 0 {
		return u.refuse(status.NewInvalid(u.c.Subject(), errs))
	}
	u.kind.Canonicalize(u.operation, o, old)
	next, encoded := stored.Encode(o)
	if err := checkSize(next); err != nil {
		return u.refuse(err)
	}
	unchanged := encoded.SameAs(previous)
	if !unchanged {
		if err := u.checkGrants(ctx, u.c, o, old); err != nil {
			return u.refuse(err)
		}
	}
	if !unchanged && !u.w.dryRun {
		return u.write(ctx, previous, next, o)
	}
	if err := u.refuse(nil); err != nil {
		return err
	}
	if unchanged { // answered without a write or an event (E20)
		return u.answers.respond(u.c, u.w, previous)
	}
	o.SetResourceVersion(strconv.FormatUint(previous.Version, 10))
	return u.answers.respondDry(u.c, u.w, o)
}

// refuse returns err, an outcome without a write, once it is decided from a confirmed state, and asks for one until then.
func (u *update) refuse(err error) error {
	if !u.fresh {
		return errStale
	}
	return err
}

// missing answers for a name that is not there (E11, E12, F35, H4).
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
	o, err := u.derive(nil)
	if err != nil {
		return err
	}
	if v := o.ResourceVersion(); v != "" && v != "0" {
		return status.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	if uid := o.UID(); uid != "" {
		return status.NewUIDConflict(u.c.Subject(), uid, "")
	}
	if err := u.namespaceOpen(ctx, u.c); err != nil {
		return err
	}
	return u.insertNamed(ctx, u.c, u.w, o)
}

// checkPreconditions compares resourceVersion and uid of what is to be stored with what is (E2–E6, F29).
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

// write writes: an update, or the removal of an object that nothing holds any longer (E16), or that could not be initialized.
func (u *update) write(ctx context.Context, previous, next *state.Object, o *schema.Object) error {
	var written *state.Object
	var err error
	if deletion.Complete(o) || o.Initializers().Field("result").IsSet() {
		written, err = u.store.Delete(ctx, raftstore.Delete{Key: u.key, Previous: previous, UID: previous.UID, Final: next})
	} else {
		_, going := o.DeletionTimestamp() // somebody may be letting go of it
		written, err = u.store.Update(ctx, raftstore.Update{Key: u.key, Previous: previous, UID: previous.UID, Object: next, Frees: going, Client: client(u.c.R)})
	}
	if err != nil {
		return err
	}
	return u.answers.respond(u.c, u.w, written)
}

// client distinguishes clients by their connections, as raftstore.Update asks.
func client(r *http.Request) uint64 {
	h := fnv.New64a()
	h.Write([]byte(r.RemoteAddr))
	return h.Sum64()
}
