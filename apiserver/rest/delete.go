package rest

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"quorate/apiserver/objects/deletion"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/negotiate"
	"quorate/apiserver/wire/status"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// delete removes an object, or marks it for deletion (G1–G29).
func (r *resource) delete(c *route.Call) error {
	as, err := r.represent(c) // applies to objects; a Status has no Table or metadata-only form
	if err != nil {
		return err
	}
	opts, err := r.readDeleteOptions(c)
	if err != nil {
		return err
	}
	if err := c.Expand(r.storedObject(c).deleted()); err != nil {
		return err
	}
	ctx, err := c.Timeout(writeDeadline)
	if err != nil {
		return err
	}
	defer ctx.Stop()
	uid, err := r.deleteOne(ctx, c, opts)
	if err != nil {
		return err
	}
	return c.Status(http.StatusOK, status.Success(c.Subject(), uid), as.form)
}

// deleteOne retries until the delete is applied or finally refused. It returns the uid of the
// deleted object.
func (r *resource) deleteOne(ctx context.Context, c *route.Call, opts *deleteOptions) (uid string, err error) {
	key := stored.Key(r.kind, c.Namespace, c.Name)
	admitted, err := r.admitDelete(ctx, c, opts)
	if err != nil {
		return "", err
	}
	read, fresh := raftstore.Cached(), false
	for {
		if admitted != nil { // no webhook is asked about a delete that cannot take place
			read, fresh = raftstore.Quorum(), true
		}
		root, err := r.store.View(ctx, read)
		if err != nil {
			return "", err
		}
		previous := root.Get(key)
		admitted.in(root)
		settled, err := r.attemptDelete(ctx, c.Subject(), opts, c.Now, previous, admitted)
		if settled && fresh {
			return uidOf(previous), err
		}
		conflict, moved := errors.AsType[*state.Conflict](err)
		switch {
		case moved:
			read, fresh = raftstore.AtLeast(conflict.Have), false
		case settled, deletion.Lost(err):
			read, fresh = raftstore.Quorum(), true
		default:
			return uidOf(previous), err
		}
		if ctx.Err() != nil {
			return "", status.NewContention(c.Subject())
		}
	}
}

func uidOf(o *state.Object) string {
	if o == nil {
		return ""
	}
	return o.UID
}

// attemptDelete tries to delete an object whose stored version is previous. settled reports that it
// decided from the state without a write; such an outcome is final only if the state is confirmed.
func (r *resource) attemptDelete(
	ctx context.Context, s status.Subject, opts *deleteOptions, now time.Time, previous *state.Object, admitted *admitted,
) (settled bool, err error) {
	if previous == nil {
		return true, status.NewNotFound(s)
	}
	if err := opts.check(s, previous); err != nil {
		return true, err
	}
	o, err := r.kind.Storage().DecodeStored(previous.Value)
	if err != nil {
		return false, err
	}
	d := deletion.Decide(o, opts.Options, now)
	switch {
	case d.Action == deletion.Refuse:
		return true, status.NewForbidden(s, "this namespace may not be deleted")
	}
	if err := admitted.delete(ctx, r.kind, previous); err != nil {
		return true, err
	}
	switch {
	case d.Action == deletion.Nothing, opts.dryRun:
		return true, nil
	}
	return false, deletion.Commit(ctx, r.store, previous, d)
}

// check compares the preconditions with the stored object (G17, G18).
func (o *deleteOptions) check(s status.Subject, previous *state.Object) error {
	if o.uid != nil && *o.uid != previous.UID {
		return status.NewDeleteUIDConflict(s, *o.uid, previous.UID)
	}
	if have := strconv.FormatUint(previous.Version, 10); o.version != nil && *o.version != have {
		return status.NewDeleteVersionConflict(s, *o.version, have)
	}
	return nil
}

// readDeleteBody reads the body of a DELETE. An empty body may have any Content-Type (G7).
func readDeleteBody(c *route.Call) (negotiate.Body, error) {
	if c.R.ContentLength == 0 {
		return negotiate.Body{}, nil
	}
	body, err := c.Body()
	if err != nil {
		return negotiate.Body{}, err
	}
	source := negotiate.Sent(c.R.Header.Get("Content-Type"))
	if err := c.Expand(negotiate.Expansion(body, source)); err != nil {
		return negotiate.Body{}, err
	}
	return negotiate.NewBody(body, source, route.MaxBodyBytes)
}
