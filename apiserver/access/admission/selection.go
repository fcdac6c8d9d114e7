package admission

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"quorate/apiserver/objects/expression"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/wire/status"
	"quorate/raftstore/state"
)

// selects reports whether a webhook whose rules match is to be called about a write. An error
// refuses the write.
func (c *Calls) selects(ctx context.Context, h *call, w *Write) (bool, error) {
	if !h.objects.Empty() && !selected(h.objects, w.Object) && !selected(h.objects, w.Old) {
		return false, nil
	}
	if in, err := c.inNamespace(h, w); err != nil || !in {
		return false, err
	}
	if len(h.conditions) == 0 {
		return true, nil
	}
	held, err := c.conditionsHold(ctx, h, w)
	switch {
	case err == nil:
		if !held {
			c.metrics.unmatched.Inc()
		}
		return held, nil
	case h.ignores:
		return false, nil
	}
	return false, status.NewForbidden(c.subject(w), err.Error())
}

func (c *Calls) subject(w *Write) status.Subject {
	k := c.target.Kind
	return status.Subject{Group: k.Group, Plural: k.Plural, Kind: k.Kind, Name: w.Name}
}

// selected reports whether a selector selects an object. None selects nil.
func selected(s labels.Selector, o *schema.Object) bool {
	if o == nil {
		return false
	}
	set := labels.Set{}
	for key, value := range o.Labels().Entries() {
		set[key] = value.Str()
	}
	return s.Matches(set)
}

// inNamespace reports whether the namespaceSelector of a webhook selects the namespace of the
// object, or the object if it is a namespace. Other objects without a namespace are always
// selected.
func (c *Calls) inNamespace(h *call, w *Write) (bool, error) {
	if h.namespaces.Empty() {
		return true, nil
	}
	t := &c.target
	switch {
	case t.isNamespace() && t.Subresource == "" && w.Object != nil:
		return selected(h.namespaces, w.Object), nil
	case t.isNamespace():
		return selected(h.namespaces, w.Old), nil
	case !t.Kind.Namespaced:
		return true, nil
	}
	key := stored.NamespaceKey(w.Namespace)
	namespace := w.Root.Get(key)
	if namespace == nil {
		return false, &state.GuardFailed{Guard: key}
	}
	set := labels.Set{}
	for name, value := range namespace.Labels.All() {
		set[name] = value
	}
	return h.namespaces.Matches(set), nil
}

// conditionsHold reports whether the matchConditions of a webhook are true.
func (c *Calls) conditionsHold(ctx context.Context, h *call, w *Write) (bool, error) {
	request, err := c.attributes(h, w).variable()
	if err != nil {
		return false, err
	}
	r := &expression.Request{Attributes: request}
	for _, v := range []struct {
		o  *schema.Object
		to *any
	}{{w.Object, &r.Object}, {w.Old, &r.OldObject}} {
		o, err := convert(ctx, v.o, h.as.object)
		if err != nil {
			return false, err
		}
		if o == nil {
			continue
		}
		var members map[string]any
		if err := utiljson.Unmarshal(o.AppendJSON(nil), &members); err != nil {
			return false, fmt.Errorf("read the object: %w", err)
		}
		*v.to = members
	}
	r.Authorizer, r.ResourceAuthorizer = c.authorizerValues(w)
	return expression.Hold(ctx, h.conditions, c.programs, r)
}

// variable returns the attributes as the variable request: members that are empty and optional are
// missing.
func (a *attributes) variable() (members map[string]any, err error) {
	text, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	if err := utiljson.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	for _, name := range []string{"object", "oldObject", "uid"} {
		delete(members, name)
	}
	return members, nil
}
