package rest

import (
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/rest/route"
	"quorate/raftstore/state"
)

// export holds the parameters export and exact of a read (specification §4.4).
type export struct{ asked, exact bool }

// readExport reads the parameters export and exact. Reads of subresources ignore them, as do reads
// of roles and bindings, which do not have these parameters (B13).
func (r *resource) readExport(c *route.Call) (export, error) {
	if !r.exports || c.R.URL.RawQuery == "" || c.Endpoint.Subresource != "" {
		return export{}, nil
	}
	asked, err := c.Query().Bool("export")
	if err != nil {
		return export{}, err
	}
	exact, err := c.Query().Bool("exact")
	return export{asked, exact}, err
}

// exported returns the bytes of an object for the response. An export omits the fields that a
// client could not send on create (B9, B10). Nothing is stored (B14).
func (r *resource) exported(o *state.Object, e export) ([]byte, error) {
	if !e.asked {
		return o.Value, nil
	}
	decoded, err := stored.Decode(r.kind, o)
	if err != nil {
		return nil, err
	}
	r.kind.Export(decoded, e.exact)
	return decoded.AppendJSON(nil), nil
}
