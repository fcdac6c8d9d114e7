package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The kind of the subresource scale, which is the same for all kinds.
const (
	scaleVersion = "autoscaling/v1"
	scaleKind    = "Scale"
)

// scaling holds the paths of the fields that an object's scale shows.
type scaling struct{ replicas, observed, selector []string }

// linkScales sets Kind.Scale for each kind that has a subresource scale.
func (c *Catalog) linkScales() error {
	for _, k := range c.kinds {
		spec := k.Spec.Subresources.Scale
		if spec == nil {
			continue
		}
		base := c.Unstored(scaleVersion, scaleKind)
		if base == nil {
			return fmt.Errorf("kind %s in %s: subresources.scale: there is no kind %s in %s", k.Kind, k.Prefix, scaleKind, scaleVersion)
		}
		if err := k.addScale(base, spec); err != nil {
			return fmt.Errorf("kind %s in %s: subresources.scale: %w", k.Kind, k.Prefix, err)
		}
	}
	return nil
}

// addScale sets k.Scale to a view of k's objects in the form of base.
func (k *Kind) addScale(base *Kind, spec *ScaleSpec) error {
	var s scaling
	for _, field := range []struct {
		name  string
		forms []Form
		to    *[]string
	}{
		{spec.Replicas, []Form{FormInt32}, &s.replicas}, {spec.Observed, []Form{FormInt32}, &s.observed},
		{spec.Selector, []Form{FormMessage, FormMap}, &s.selector},
	} {
		*field.to = strings.Split(field.name, ".")
		if t := k.Message.typ.lookup(*field.to); t == nil || !slices.Contains(field.forms, t.Form) {
			return fmt.Errorf("there is no such field %q", field.name)
		}
	}
	k.scaling = s
	k.newScale(base, s.fillScale)
	return nil
}

// newScale sets k.Scale to a view of k's objects in the form of base, which fill converts them to.
func (k *Kind) newScale(base *Kind, fill Converter) {
	k.Scale = &Kind{
		Identity: base.Identity, Spec: base.Spec, Message: base.Message, Strategy: base.Strategy, Resource: k.Resource,
		slots: base.slots, prefix: base.prefix, name: k.name, protobuf: base.protobuf, storage: k.storage, converts: true,
		hooks: kindHooks{fromStorage: fill},
	}
	k.Scale.Strategy.AllowUnconditionalUpdate = k.Strategy.AllowUnconditionalUpdate
	k.Operations |= OpScaleRead | OpScaleReplace | OpScalePatch
}

// ReplicasPath returns the path of the field that a write of the kind's scale sets. The caller must
// not modify it.
func (k *Kind) ReplicasPath() []string { return k.scaling.replicas }

// lookup returns the type of the field at a path, or nil if there is no such field.
func (t *Type) lookup(names []string) *Type {
	for _, name := range names {
		if t.message == nil || t.message.byName[name] == nil {
			return nil
		}
		t = t.message.byName[name].Type
	}
	return t
}

// identify copies the metadata that identifies the stored object from and its version to the scale
// to, and no other.
func (s *scaling) identify(from, to *Object) {
	created := from.CreationTimestamp()
	to.root.Clear("metadata")
	to.SetName(from.Name())
	to.SetNamespace(from.Namespace())
	to.SetUID(from.UID())
	to.SetResourceVersion(from.ResourceVersion())
	if !created.IsZero() {
		to.SetCreationTimestamp(created)
	}
}

// fillScale fills the scale to from the stored object from.
func (s *scaling) fillScale(from, to *Object) {
	s.identify(from, to)
	to.root.Make("spec").Make("replicas").SetInt(from.root.Lookup(s.replicas...).Int())
	status := to.root.Make("status")
	status.Make("replicas").SetInt(from.root.Lookup(s.observed...).Int())
	status.Make("selector").SetStr(SelectorText(from.root.Lookup(s.selector...)))
}

// Rescale sets the replicas of object o to the number that scale requests. It also copies the
// resourceVersion and uid that scale names, so that an update with o fails if the object was
// changed or replaced since the client read the scale. If scale names no version, o keeps its own:
// a scale can be written unconditionally, also that of a kind whose objects cannot.
func (k *Kind) Rescale(o, scale *Object) {
	if version := scale.ResourceVersion(); version != "" {
		o.SetResourceVersion(version)
	}
	o.SetUID(scale.UID())
	v := o.root
	replicas := scale.root.Lookup("spec", "replicas").Int()
	if k.custom != nil {
		v.SetMemberAt(k.scaling.replicas, strconv.FormatInt(replicas, 10))
		return
	}
	for _, name := range k.scaling.replicas {
		v = v.Make(name)
	}
	v.SetInt(replicas)
}
