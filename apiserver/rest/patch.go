package rest

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/objects/patch"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/status"
	"quorate/raftstore/state"
)

const (
	patchOptionsKind = "PatchOptions"
	// maxPatchExcerpt is the maximum length of a patch in an error message.
	maxPatchExcerpt = 256
)

// patchCall is a patch request.
type patchCall struct {
	*resource
	c     *route.Call
	w     *write
	body  []byte
	patch *patch.Patch

	stored storedObject
}

// patch applies a patch of one of the three types to an object (F1).
func (r *resource) patch(c *route.Call) error { return r.patchAs(c, schema.Update) }

// patchStatus applies a patch to the status of an object (F34).
func (r *resource) patchStatus(c *route.Call) error { return r.patchAs(c, schema.UpdateStatus) }

// patchAs applies a patch and stores the part of the object that the operation may change. If the
// object changes concurrently, it applies the patch to the new version (F31). A patch that contains
// a resourceVersion then fails with a conflict.
func (r *resource) patchAs(c *route.Call, operation schema.Operation) error {
	if applies(c) {
		return r.applyAs(c, operation)
	}
	p, err := r.beginPatch(c)
	if err != nil {
		return err
	}
	u := r.newUpdate(c, p.w, operation)
	u.derive = func(_ context.Context, previous *state.Object) (*schema.Object, error) { return p.derive(previous) }
	return u.run()
}

// beginPatch reads a request in the order in which its errors take precedence, as begin does.
func (r *resource) beginPatch(c *route.Call) (*patchCall, error) {
	as, err := r.represent(c)
	if err != nil {
		return nil, err
	}
	kind, err := patch.TypeOf(c.R.Header.Get("Content-Type"))
	if err != nil {
		return nil, err
	}
	p := &patchCall{resource: r, c: c, w: &write{as: as}}
	if p.body, err = c.Body(); err != nil {
		return nil, err
	}
	if err := p.w.readOptions(c, patchOptionsKind); err != nil {
		return nil, err
	}
	if err := refuseForce(c); err != nil {
		return nil, err
	}
	p.stored = r.storedObject(c)
	if err := c.Expand(p.stored.patched(p.body)); err != nil {
		return nil, err
	}
	if p.patch, err = patch.Parse(kind, p.body); err != nil {
		return nil, err
	}
	if c.Recording != nil {
		c.Recording.KeepRequest(p.body)
	}
	return p, nil
}

// refuseForce returns an error for the parameter force, which only server-side apply accepts (F5).
func refuseForce(c *route.Call) error {
	if c.R.URL.RawQuery == "" || !c.Query().Has("force") {
		return nil
	}
	if _, err := c.Query().Bool("force"); err != nil {
		return err
	}
	return status.NewInvalidOption(patchOptionsKind,
		field.Forbidden(field.NewPath("force"), "may not be specified for non-apply patch"))
}

// derive applies the patch to a stored object. The document includes the resourceVersion, so it is
// a precondition only if the patch changes it.
func (p *patchCall) derive(previous *state.Object) (*schema.Object, error) {
	document, err := p.value(previous)
	if err != nil {
		return nil, err
	}
	result, err := p.patch.Apply(p.kind, document)
	if err != nil {
		return nil, err
	}
	// A copy within a JSON patch makes the result larger than the document and the patch are.
	if err := p.c.Expand(p.stored.result(p.body, schema.JSONExpansion(result))); err != nil {
		return nil, err
	}
	o, problems, err := p.kind.Decode(result)
	if err != nil {
		return nil, p.unfit(err.Error())
	}
	dropped := slices.Concat(p.patch.Problems(), problems.List())
	p.w.countDropped(p.c, len(dropped))
	if p.w.validation == validateStrict && len(dropped) > 0 { // unknown fields (F36), duplicate names (F37)
		return nil, p.unfit("strict decoding error: " + strings.Join(dropped, ", "))
	}
	p.w.warnDropped(p.c, o, dropped)
	return o, p.checkPath(p.c, o)
}

// unfit returns the error for a patch whose result is not an object of the kind (F26).
func (p *patchCall) unfit(why string) error {
	excerpt := string(p.body)
	if len(excerpt) > maxPatchExcerpt {
		excerpt = strings.ToValidUTF8(excerpt[:maxPatchExcerpt], "") + "..."
	}
	return status.NewInvalid(p.c.Subject(), field.ErrorList{field.Invalid(field.NewPath("patch"), excerpt, why)})
}
