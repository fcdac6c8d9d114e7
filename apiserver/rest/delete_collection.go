package rest

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"quorate/apiserver/objects/deletion"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/status"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// collectionParallel limits the concurrent deletes of one request: enough for them to share disk
// writes, and few enough to leave capacity for other requests.
const collectionParallel = 256

// admittedParallel is collectionParallel if webhooks are called about each delete.
const admittedParallel = 8

// sweep is a delete of a collection in progress.
type sweep struct {
	*resource
	c       *route.Call
	opts    *deleteOptions
	deleted atomic.Int64
	// admitted calls the webhooks; nil if there are none.
	admitted *admitted
}

// deleteCollection deletes the selected objects of a collection with one log entry each, so it is
// not atomic (G30–G36).
func (r *resource) deleteCollection(c *route.Call) error {
	as, err := r.represent(c)
	if err != nil {
		return err
	}
	w := &sweep{resource: r, c: c}
	if w.opts, err = r.readDeleteOptions(c); err != nil {
		return err
	}
	limit, err := readSweepLimit(c.Query())
	if err != nil {
		return err
	}
	ctx, err := c.Timeout(writeDeadline)
	if err != nil {
		return err
	}
	defer ctx.Stop()
	if w.admitted, err = r.admitDelete(ctx, c, w.opts); err != nil {
		return err
	}
	if err := w.run(ctx, limit); err != nil {
		return w.failed(ctx, err)
	}
	return c.Status(http.StatusOK, status.Success(c.Subject(), ""), as.form)
}

// readSweepLimit returns the maximum number of objects to delete; 0 means all that are selected.
func readSweepLimit(q route.Query) (int64, error) {
	if q.Get("continue") != "" { // §4.4 defines it for lists only; ignoring it could delete more than intended
		return 0, status.NewBadRequest("continue is not supported on a delete of a collection")
	}
	return q.Count("limit")
}

// run deletes the selected objects of one state with limited concurrency. After an error it waits
// for the deletes in progress, so that their outcomes are known.
func (w *sweep) run(ctx context.Context, limit int64) error {
	sel, err := w.selector(w.c)
	if err != nil {
		return err
	}
	root, err := w.state(w.c, w.c.Query().Get("resourceVersion"))
	if err != nil {
		return err
	}
	var writes errgroup.Group
	writes.SetLimit(w.parallel())
	w.admitted.in(root)
	var broken atomic.Bool
	taken := int64(0)
	walked := w.walk(ctx, root, w.c.Namespace, sel, func(o *state.Object) bool {
		writes.Go(func() error {
			err := w.delete(ctx, o)
			if err != nil {
				broken.Store(true)
			}
			return err
		})
		taken++
		return taken != limit && ctx.Err() == nil && !broken.Load()
	})
	if err := writes.Wait(); err != nil {
		return err
	}
	if walked != nil {
		return walked
	}
	return ctx.Err()
}

// parallel is the number of concurrent deletes. With webhooks it is small, since the calls of one
// webhook are bounded.
func (w *sweep) parallel() int {
	if w.admitted != nil {
		return admittedParallel
	}
	return collectionParallel
}

// delete deletes the current version of an object. It skips an object that was deleted, or deleted
// and created again, since the state was read (G31).
func (w *sweep) delete(ctx context.Context, o *state.Object) error {
	subject := w.c.Subject()
	_, _, subject.Name = o.Key.Split()
	for {
		settled, err := w.attemptDelete(ctx, subject, w.opts, w.c.Now, o, w.admitted)
		conflict, moved := errors.AsType[*state.Conflict](err)
		switch {
		case err == nil:
			if !settled {
				w.deleted.Add(1)
			}
			return nil
		case !settled && moved:
		case !settled && deletion.Lost(err):
			return nil
		default:
			return err
		}
		root, err := w.store.View(ctx, raftstore.AtLeast(conflict.Have))
		if err != nil {
			return err
		}
		current := root.Get(o.Key)
		if current == nil || current.UID != o.UID {
			return nil
		}
		o = current
	}
}

// failed adds the number of objects deleted so far to an error (G32).
func (w *sweep) failed(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && !errors.Is(err, raftstore.ErrUnknownOutcome) {
		err = status.NewTimeout()
	}
	deleted := w.deleted.Load()
	failure, mapped := status.From(err, w.c.Subject())
	if deleted == 0 || !mapped {
		return err
	}
	return status.NewPartial(failure, deleted)
}
