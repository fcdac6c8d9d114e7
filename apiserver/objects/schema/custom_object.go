package schema

import (
	"bytes"
	"errors"
)

const statusMember = "status"

// normalize returns a decoded object without the fields that the schema of its custom kind does not
// have, which it adds to the problems, and with the schema's defaults. Errors are *DecodeError.
func (k *Kind) normalize(o *Object, problems *Problems) (*Object, error) {
	text := o.AppendJSON(nil)
	normal, dropped, more, err := k.custom.structure.Normalize(text)
	if err != nil {
		return nil, &DecodeError{Message: k.cannotHandle(k.Kind, k.APIVersion) + err.Error(), Offset: -1}
	}
	for _, path := range dropped {
		problems.add("unknown field", path)
	}
	problems.more += more
	if bytes.Equal(normal, text) {
		return o, nil
	}
	return k.DecodeStored(normal)
}

// adapts reports whether a stored value differs from what the kind serves by more than the
// apiVersion: it was written under another schema, or in a version that has to be converted. A kind
// without conversion whose schema never changed adapts nothing.
func (k *Kind) adapts(value []byte) bool {
	return k.adapter != nil && (k.adapter.isOtherVersion(value) || !k.adapter.custom.structure.Conforms(value))
}

// adapt returns a stored object as the kind serves it now: with the kind's apiVersion, without the
// fields that its schema does not have, and with its defaults.
func (k *Kind) adapt(o *Object) (*Object, error) {
	if k.ConvertsRemotely() && o.Kind != k {
		return k.convertRemotely(o)
	}
	form := o.as(k)
	text := form.AppendJSON(nil)
	if !k.adapts(text) {
		return form, nil
	}
	normal, _, _, err := k.custom.structure.Normalize(text)
	if err != nil { // not wrapped: stored bytes that the schema can't be applied to are not the client's fault
		return nil, errors.New("adapt a stored object to the schema: " + err.Error())
	}
	return k.DecodeStored(normal)
}

// prepareCustom prepares an object of a custom kind that has a status subresource: a create starts
// without a status, a write of the main resource keeps the stored status, and a write of the status
// keeps everything else but resourceVersion, uid and managedFields.
func (k *Kind) prepareCustom(op Operation, o, old *Object) {
	switch {
	case !k.Strategy.HasStatus:
	case op == Create:
		o.root.SetMember(statusMember, "")
	case op == Update:
		o.root.SetMember(statusMember, old.root.Member(statusMember))
	case op == UpdateStatus:
		sent := *o
		o.root = old.root.Copy()
		o.root.SetMember(statusMember, sent.root.Member(statusMember))
		o.SetResourceVersion(sent.ResourceVersion())
		o.SetUID(sent.UID())
		o.KeepManagedFields(&sent)
	}
}

// validateCustom validates an object of a custom kind against the schema.
func (c *Context) validateCustom() {
	var old []byte
	if c.Old != nil {
		old = c.Old.AppendJSON(nil)
	}
	for _, err := range c.Kind.custom.structure.Validate(c.Object.AppendJSON(nil), old) {
		c.Report(err)
	}
	c.checkCustomScale()
}

// checkCustomScale requires the fields that the subresource scale shows to be what it can show.
func (c *Context) checkCustomScale() {
	if c.Kind.Scale == nil {
		return
	}
	for _, path := range [][]string{c.Kind.scaling.replicas, c.Kind.scaling.observed} {
		rest := make([]any, len(path))
		for i, name := range path {
			rest[i] = name
		}
		switch text := c.Object.root.MemberAt(path); {
		case text == "" || text == "null":
		case intOf(text) < 0:
			c.Invalid(intOf(text), "should be a non-negative integer", rest...)
		case intOf(text) > maxReplicas:
			c.Invalid(intOf(text), "should be less than or equal to 2147483647", rest...)
		}
	}
}

// maxReplicas is the largest number of replicas that a Scale can show.
const maxReplicas = 1<<31 - 1
