package rest

import (
	"context"
	"net/http"
	"strconv"

	"quorate/apiserver/route"
	"quorate/apiserver/status"
	"quorate/apiserver/stored"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// get answers with one object: the stored bytes (B1, B5).
func (r *resource) get(c *route.Call) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	if err := r.refuseExport(c); err != nil {
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
	value, err := r.value(o)
	if err != nil {
		return err
	}
	return c.Document(http.StatusOK, value, form)
}

// refuseExport: an export is another document than the object, and is not offered yet. A kind whose reads do not know the
// parameter ignores it (B12, B13).
func (r *resource) refuseExport(c *route.Call) error {
	if !r.exports || !c.Query().Has("export") {
		return nil
	}
	export, err := c.Query().Bool("export")
	if err == nil && export {
		err = status.NewBadRequest("the export parameter is not offered by this server")
	}
	return err
}

// value returns an object's bytes in the form of this kind.
func (r *resource) value(o *state.Object) ([]byte, error) {
	if !r.view {
		return o.Value, nil
	}
	decoded, err := stored.Decode(r.kind, o)
	if err != nil {
		return nil, err
	}
	return decoded.AppendJSON(nil), nil
}

// state returns a state as fresh as a request's resourceVersion asks (specification §4.4): unset, by the quorum-read flag; 0,
// whatever is here; N, at least that.
func (h *Handlers) state(c *route.Call, version string) (*state.Root, error) {
	switch version {
	case "":
		if h.quorumRead {
			return h.quorum(c)
		}
		return h.store.View(c.R.Context(), raftstore.Cached())
	case "0":
		return h.store.View(c.R.Context(), raftstore.Cached())
	}
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return nil, status.NewBadRequest("invalid resource version: " + strconv.Quote(version))
	}
	return h.atLeast(c, n)
}

func (h *Handlers) quorum(c *route.Call) (*state.Root, error) {
	ctx, cancel, err := c.Deadline(readDeadline)
	if err != nil {
		return nil, err
	}
	defer cancel()
	return h.store.View(ctx, raftstore.Quorum())
}

// atLeast waits a little for a version that this node has not reached (C33).
func (h *Handlers) atLeast(c *route.Call, version uint64) (*state.Root, error) {
	root, err := h.store.View(c.R.Context(), raftstore.Cached())
	if err != nil || root.Index() >= version {
		return root, err
	}
	ctx, cancel := context.WithTimeout(c.R.Context(), futureWait)
	defer cancel()
	return h.store.View(ctx, raftstore.AtLeast(version))
}
