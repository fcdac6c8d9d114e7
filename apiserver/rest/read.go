package rest

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"quorate/apiserver/objects/stored"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/status"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// get responds with the stored bytes of one object (B1, B5).
func (r *resource) get(c *route.Call) error {
	as, err := r.represent(c)
	if err != nil {
		return err
	}
	export, err := r.readExport(c)
	if err != nil {
		return err
	}
	root, err := r.state(c, c.Query().Get("resourceVersion"))
	if err != nil {
		return err
	}
	o := root.Get(stored.Key(r.kind, c.Namespace, c.Name))
	if o == nil {
		return status.NewNotFound(c.Subject())
	}
	value, err := r.exported(o, export)
	if err != nil {
		return err
	}
	return r.answer(c, http.StatusOK, &as, value)
}

// value returns the bytes of an object in the version of the kind.
func (r *resource) value(o *state.Object) ([]byte, error) { return r.kind.Present(o.Value) }

// state returns a state that is as fresh as the resourceVersion of a request requires
// (specification §4.4). An empty version requires a confirmed state if QuorumRead is set, and
// otherwise this node's state; 0 requires this node's state; N requires a state of at least version
// N, for which state waits up to futureWait.
func (h *Handlers) state(c *route.Call, version string) (*state.Root, error) {
	switch version {
	case "":
		if h.quorumRead {
			return h.quorum(c)
		}
		return present(c.R.Context(), h.store)
	case "0":
		return present(c.R.Context(), h.store)
	}
	n, err := versionOf(version)
	if err != nil {
		return nil, err
	}
	return h.atLeast(c, n)
}

// present returns this node's state. A node that has just started may not know yet which entries of
// its log are committed, and its state is empty. present waits up to futureWait until the node has
// applied the first entries, because otherwise all objects would seem to be deleted.
func present(ctx context.Context, store Store) (*state.Root, error) {
	root, err := store.View(ctx, raftstore.Cached())
	if err != nil || root.ClusterID() != "" {
		return root, err
	}
	waiting, cancel := context.WithTimeout(ctx, futureWait)
	defer cancel()
	for err == nil && root.ClusterID() == "" {
		root, err = store.View(waiting, raftstore.AtLeast(root.Index()+1))
	}
	if isFuture(err) {
		return nil, fmt.Errorf("%w: this node has no state yet", raftstore.ErrUnavailable)
	}
	return root, err
}

// versionOf parses a resourceVersion. It returns a 400 error if the version is not a number (C28).
func versionOf(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, status.NewBadRequest("invalid resource version: " + strconv.Quote(text))
	}
	return n, nil
}

func (h *Handlers) quorum(c *route.Call) (*state.Root, error) {
	ctx, err := c.Timeout(readDeadline)
	if err != nil {
		return nil, err
	}
	defer ctx.Stop()
	return h.store.View(ctx, raftstore.Quorum())
}

// atLeast returns a state of at least a version. It waits for the version up to futureWait (C33).
func (h *Handlers) atLeast(c *route.Call, version uint64) (*state.Root, error) {
	root, err := h.store.View(c.R.Context(), raftstore.Cached())
	if err != nil || root.Index() >= version {
		return root, err
	}
	ctx, err := c.Timeout(futureWait)
	if err != nil {
		return nil, err
	}
	defer ctx.Stop()
	return h.store.View(ctx, raftstore.AtLeast(version))
}
