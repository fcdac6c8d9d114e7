package rest

import (
	"quorate/apiserver/objects/apply"
	"quorate/apiserver/objects/patch"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/rest/route"
	"quorate/raftstore"
)

// What a write reserves of the budget for decodings, in one rule: once the object as it is stored,
// and once the object that replaces it; if managed fields are compared, apply.Expansion of both,
// whose factor TestExpansion of that package measures. What it takes to read the text of a body is
// added (negotiate.Expansion, patch.Expansion). An object is charged by schema.JSONExpansion of its
// text.

// storedObject is what is known of an object before a write to it.
type storedObject struct {
	bytes   int64 // that decoding it takes; 0 if there is none
	managed bool  // it has managed fields, which each write brings up to date
}

// storedObject returns what decoding takes of the object that the path names, as this node has it.
func (r *resource) storedObject(c *route.Call) storedObject {
	if c.Name == "" || r.store == nil {
		return storedObject{}
	}
	root, err := r.store.View(c.R.Context(), raftstore.Cached())
	if err != nil {
		return storedObject{} // the write finds out
	}
	o := root.Get(stored.Key(r.kind, c.Namespace, c.Name))
	if o == nil {
		return storedObject{}
	}
	return storedObject{schema.JSONExpansion(o.Value), apply.Managed(o.Value)}
}

// replaced returns what it takes to replace the object by one that takes so many bytes.
func (s storedObject) replaced(by int64) int64 {
	if s.managed {
		return apply.Expansion(s.bytes + by)
	}
	return s.bytes + by
}

// applied returns what it takes to apply a configuration that takes so many bytes: it makes the
// object a managed one.
func (s storedObject) applied(config int64) int64 {
	s.managed = true
	return s.replaced(config)
}

// patched returns what it takes to apply a patch. Its result takes as much as the object and the
// patch; a JSON patch that copies is charged again (see result).
func (s storedObject) patched(body []byte) int64 {
	return s.result(body, s.bytes+schema.JSONExpansion(body))
}

// result returns what it takes to apply a patch whose result takes so many bytes.
func (s storedObject) result(body []byte, bytes int64) int64 {
	return patch.Expansion(body) + s.replaced(bytes)
}

// deleted returns what it takes to delete the object, or to mark it as being deleted. That changes
// no managed fields.
func (s storedObject) deleted() int64 { return 2 * s.bytes }
