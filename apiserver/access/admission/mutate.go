package admission

import (
	"context"
	"encoding/json"
	"fmt"

	"quorate/apiserver/limit"
	"quorate/apiserver/objects/patch"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/wire/status"
)

// rounds is how often the mutating webhooks are gone through: a second time if one has changed an
// object that an earlier one with the reinvocationPolicy IfNeeded had seen.
const rounds = 2

// mutation is the state of Mutate.
type mutation struct {
	*Calls
	w       *Write
	round   int
	called  []int        // reinvocable webhooks since the last change, by index
	recalls map[int]bool // those to be called again
}

// Mutate calls the mutating webhooks about a write and returns the object that they leave, which is
// w.Object if they change nothing. It refuses a change of the name, the namespace or the uid.
func (c *Calls) Mutate(ctx context.Context, w Write) (*schema.Object, error) {
	m := &mutation{Calls: c, w: &w, recalls: map[int]bool{}}
	for m.round = range rounds {
		for i := range c.mutating {
			if err := m.visit(ctx, &c.mutating[i]); err != nil {
				return nil, err
			}
		}
		if len(m.recalls) == 0 {
			break
		}
	}
	return w.Object, nil
}

// visit calls a webhook if it is selected, in the second round only if it is to be called again.
func (m *mutation) visit(ctx context.Context, h *call) error {
	selected, err := m.selects(ctx, h, m.w)
	if err != nil || !selected || m.round > 0 && !m.recalls[h.index] {
		return err
	}
	changed, err := m.apply(ctx, h)
	if changed {
		for _, earlier := range m.called {
			m.recalls[earlier] = true
		}
		m.called = nil
	}
	if h.reinvocable {
		m.called = append(m.called, h.index)
	}
	return err
}

// apply calls a webhook and applies its patch.
func (m *mutation) apply(ctx context.Context, h *call) (changed bool, err error) {
	var out outcome
	defer func() { out.answer.Release() }()
	q := m.question(ctx, h, m.w, nil)
	if err := m.w.Request.Wait(func() { out = m.call(ctx, q, typeMutating) }); err != nil {
		return false, err
	}
	if out.response != nil {
		m.report(h, m.w, out.response)
	}
	if out.ignored != nil {
		h.annotate(m.w, failedOpen+mutationAnnotation, m.round, h.name)
	}
	if out.err == nil && out.response != nil && len(out.response.Patch) > 0 {
		changed, err = m.patch(ctx, h, out.response.Patch)
	} else {
		err = out.err
	}
	h.annotate(m.w, mutationAnnotation, m.round, mutated{h.configuration, h.name, changed})
	return changed, err
}

// mutated is the annotation about whether a webhook has changed an object.
type mutated struct {
	Configuration string `json:"configuration"`
	Webhook       string `json:"webhook"`
	Mutated       bool   `json:"mutated"`
}

// patched is the annotation about a patch.
type patched struct {
	Configuration string          `json:"configuration"`
	Webhook       string          `json:"webhook"`
	Patch         json.RawMessage `json:"patch,omitempty"`
	PatchType     string          `json:"patchType,omitempty"`
}

// patch applies a patch to the object, in the form that the webhook knows. A patch that does not
// apply refuses the write, whatever the failurePolicy.
func (m *mutation) patch(ctx context.Context, h *call, body []byte) (changed bool, err error) {
	p, err := patch.Parse(patch.JSON, body)
	if err != nil {
		return false, m.unfit(h, err)
	}
	before := m.w.Object
	if before == nil {
		return false, status.NewInternal(fmt.Sprintf("admission webhook %q attempted to modify the object, which is not supported for this operation", h.name))
	}
	text, err := document(ctx, before, h.as.object)
	if err != nil {
		return false, err
	}
	result, err := p.Apply(h.as.object, text)
	if err != nil {
		return false, m.unfit(h, err)
	}
	if err := m.w.Request.Reserve(schema.JSONExpansion(result)); err != nil {
		return false, err
	}
	after, err := h.as.decode(ctx, result, before)
	if err != nil {
		return false, m.unfit(h, err)
	}
	if what := identityChange(before, after); what != "" {
		return false, status.NewInternal(fmt.Sprintf("admission webhook %q changed metadata.%s, which no webhook may change", h.name, what))
	}
	after.SetResourceVersion(before.ResourceVersion())
	after.KeepManagedFields(before)
	if m.w.Request.AuditsBodies() {
		h.annotate(m.w, patchAnnotation, m.round, patched{h.configuration, h.name, body, jsonPatchType})
	}
	m.w.Object = after
	return !schema.Equal(before.Root(), after.Root()), nil
}

// unfit returns the error for a patch that cannot be applied.
func (m *mutation) unfit(h *call, err error) error {
	return limit.Carry(err, status.NewInternal(fmt.Sprintf("admission webhook %q returned a patch that does not apply: %v", h.name, err)))
}

// identityChange returns the name of a field that identifies the object and was changed, or "". A
// webhook may name an object whose name the server would generate.
func identityChange(before, after *schema.Object) string {
	switch {
	case after.Name() != before.Name() && before.Name() != "":
		return "name"
	case after.Namespace() != before.Namespace():
		return "namespace"
	case after.UID() != before.UID():
		return "uid"
	}
	return ""
}
