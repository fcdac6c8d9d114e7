package schema

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

const (
	metaMessage = "ObjectMeta"

	finalizerOrphan     = "orphan"
	finalizerForeground = "foregroundDeletion"
	finalizerPlatform   = "platform"
)

// checkMeta checks the object's metadata (A14-A23, E15). It reports errors in the order in which
// Kubernetes does.
func (c *Context) checkMeta() {
	o := c.Object
	c.EnterField("metadata", o.Metadata())
	defer c.Leave()
	if c.Old == nil {
		c.checkNewMeta(o)
	} else {
		c.checkMetaUpdate(o, c.Old)
	}
	m := o.Metadata()
	if m == nil {
		return
	}
	c.checkLabels(m)
	c.checkOwners(o.OwnerReferences())
	c.checkFinalizers(o.Finalizers())
	c.checkInitializers(m)
}

func (c *Context) checkNewMeta(o *Object) {
	k := c.Kind
	if prefix := o.GenerateName(); prefix != "" {
		for _, why := range k.name.check(prefix, true) {
			c.Invalid(prefix, why, "generateName")
		}
	}
	name := o.Name()
	if name == "" {
		c.Required("name or generateName is required", "name")
	} else {
		for _, why := range k.name.check(name, false) {
			c.Invalid(name, why, "name")
		}
	}
	ns := o.Namespace()
	switch {
	case !k.Namespaced && ns != "":
		c.Forbidden("not allowed on this type", "namespace")
	case k.Namespaced && ns == "":
		c.Required("", "namespace")
	case k.Namespaced && !isDNSLabel(ns):
		for _, why := range validation.IsDNS1123Label(ns) {
			c.Invalid(ns, why, "namespace")
		}
	}
}

func (c *Context) checkMetaUpdate(o, old *Object) {
	if _, going := old.DeletionTimestamp(); going {
		c.checkNoNewFinalizers(o.Finalizers(), old.Finalizers())
	}
	s := &c.Kind.slots
	if n := o.Generation(); n < old.Generation() {
		c.Invalid(n, "must not be decremented", "generation")
	}
	for _, slot := range [...]int{s.name, s.namespace, s.uid, s.creationTimestamp, s.deletionTimestamp, s.deletionGracePeriodSeconds} {
		if v := o.meta(slot); !Equal(v, old.meta(slot)) {
			c.Invalid(v, immutableText, s.metaType.message.fields[slot].Name)
		}
	}
}

func (c *Context) checkNoNewFinalizers(finalizers, old *Value) {
	var added []string
	for _, f := range finalizers.Items() {
		if !old.containsText(f.str) {
			added = append(added, strconv.Quote(f.str))
		}
	}
	if len(added) > 0 {
		slices.Sort(added)
		c.Forbidden("no new finalizers can be added if the object is being deleted, found new finalizers []string{"+
			strings.Join(added, ", ")+"}", "finalizers")
	}
}

// containsText reports whether a list of strings contains s.
func (v *Value) containsText(s string) bool {
	for _, item := range v.Items() {
		if item.str == s {
			return true
		}
	}
	return false
}

// checkEmbeddedMeta checks the metadata of a template: labels and annotations.
func (c *Context) checkEmbeddedMeta(m *Value) { c.checkLabels(m) }

// checkLabels checks labels and annotations of a metadata message.
func (c *Context) checkLabels(m *Value) {
	for _, name := range [...]string{"labels", "annotations"} {
		f := m.typ.message.byName[name]
		if v := m.box.kids[f.index]; v != nil && f.check != nil {
			c.EnterField(f.Name, v)
			f.check.run(c, v)
			c.Leave()
		}
	}
}

func (c *Context) checkOwners(owners *Value) {
	if owners.Len() == 0 {
		return
	}
	c.EnterField("ownerReferences", owners)
	defer c.Leave()
	controller := ""
	for i, owner := range owners.Items() {
		c.EnterIndex(i, owner)
		c.checkOwner(owner)
		c.Leave()
		if !owner.Field("controller").Bool() {
			continue
		}
		name := owner.Field("kind").Str() + "/" + owner.Field("name").Str()
		if controller != "" {
			c.Invalid(owners, "Only one reference can have Controller set to true. Found \"true\" in references for "+controller+" and "+name)
			continue
		}
		controller = name
	}
}

func (c *Context) checkOwner(owner *Value) {
	version := owner.Field("apiVersion").Str()
	if version != "" && (strings.Count(version, "/") > 1 || strings.HasSuffix(version, "/")) {
		c.Invalid(version, "must be <group>/<version> or <version>", "apiVersion")
	}
	for _, name := range [...]string{"apiVersion", "kind", "name", "uid"} {
		if owner.Field(name).IsEmpty() {
			c.Required("must not be empty", name)
		}
	}
	if version == "v1" && owner.Field("kind").Str() == "Event" {
		c.Invalid(owner, "/v1, Kind=Event is disallowed from being an owner")
	}
}

func (c *Context) checkFinalizers(finalizers *Value) {
	if finalizers.Len() == 0 {
		return
	}
	c.EnterField("finalizers", finalizers)
	defer c.Leave()
	for _, f := range finalizers.Items() {
		if !isQualifiedName(f.str) {
			for _, why := range validation.IsQualifiedName(f.str) {
				c.Invalid(f.str, why)
			}
			continue
		}
		// Upstream has no standard names for custom resources, and accepts any.
		if c.Kind.custom == nil && !strings.Contains(f.str, "/") && !isStandardFinalizer(f.str) {
			c.Invalid(f.str, "name is neither a standard finalizer name nor is it fully qualified")
		}
	}
	if finalizers.containsText(finalizerOrphan) && finalizers.containsText(finalizerForeground) {
		c.Invalid(finalizers, "finalizer "+finalizerOrphan+" and "+finalizerForeground+" cannot be both set")
	}
}

func isStandardFinalizer(name string) bool {
	return name == finalizerOrphan || name == finalizerForeground || name == finalizerPlatform
}

// checkInitializers checks the names of pending initializers and that an update does not add any.
func (c *Context) checkInitializers(m *Value) {
	inits := m.Field("initializers")
	pending := inits.Field("pending")
	if inits == nil {
		return
	}
	c.EnterField("initializers", inits)
	defer c.Leave()
	var old *Value
	if c.Old != nil {
		old = c.Old.Initializers()
	}
	for i, p := range pending.Items() {
		name := p.Field("name").Str()
		switch {
		case name == "":
			c.Required("", "pending", i, "name")
		case !isDNSSubdomain(name):
			for _, why := range validation.IsDNS1123Subdomain(name) {
				c.Invalid(name, why, "pending", i, "name")
			}
		case strings.Count(name, ".") < 2:
			c.Invalid(name, "should be a domain with at least three segments separated by dots", "pending", i, "name")
		}
		if c.Old != nil && !old.Field("pending").containsName(name) {
			c.Invalid(name, "may only be removed after the object was created", "pending", i, "name")
		}
	}
	if result := inits.Field("result"); result != nil && c.Old != nil && old == nil {
		c.Invalid(result, "may not be set once initialization has completed", "result")
		return
	}
	c.checkInitializerResult(inits.Field("result"), old.Field("result"))
}

func (c *Context) checkInitializerResult(result, old *Value) {
	if result != nil && result.Field("status").Str() != "Failure" {
		c.Invalid(result.Field("status"), `must be "Failure"`, "result", "status")
	}
	if old != nil && !Equal(result, old) {
		c.Invalid(result, immutableText, "result")
	}
}

// containsName reports whether a list of messages contains one with that name.
func (v *Value) containsName(name string) bool {
	for _, item := range v.Items() {
		if item.Field("name").Str() == name {
			return true
		}
	}
	return false
}
