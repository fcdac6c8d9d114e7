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
	normal, dropped, err := k.custom.structure.Normalize(text)
	if err != nil {
		return nil, &DecodeError{Message: k.cannotHandle(k.Kind, k.APIVersion) + err.Error(), Offset: -1}
	}
	for _, path := range dropped {
		problems.add("unknown field", path)
	}
	if bytes.Equal(normal, text) {
		return o, nil
	}
	return k.DecodeStored(normal)
}

// adapt returns a stored object as the kind serves it now: with the kind's apiVersion, without the
// fields that its schema does not have, and with its defaults.
func (k *Kind) adapt(o *Object) (*Object, error) {
	normal, _, err := k.custom.structure.Normalize(o.as(k).AppendJSON(nil))
	if err != nil { // not wrapped: stored bytes that the schema can't be applied to are not the client's fault
		return nil, errors.New("adapt a stored object to the schema: " + err.Error())
	}
	return k.DecodeStored(normal)
}

// prepareCustom does for objects of a custom kind what hooks do for others: a create starts without
// a status, a write of the main resource keeps the status, and a write of the status keeps
// everything else.
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
