package admission

import (
	"cmp"
	"slices"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/wire/webhook"
	"quorate/raftstore/state"
)

// Group is the API group of the configurations. Webhooks are never called about objects of it.
const Group = "admissionregistration.k8s.io"

// Index holds the webhooks of the configurations of a state. It is immutable.
type Index struct {
	mutating, validating []*hook
	configurations       []*configuration
}

// configuration is one stored configuration with its webhooks.
type configuration struct {
	uid, name string
	version   uint64
	mutates   bool
	hooks     []*hook
}

// Len returns the number of webhooks.
func (x *Index) Len() int { return len(x.mutating) + len(x.validating) }

// NewIndex returns the index of the configurations among objects. It reuses the unchanged webhooks
// of the previous index, which may be nil, and closes the connections of the others. mutating and
// validating are the kinds of configurations.
func NewIndex(objects []*state.Object, mutating, validating *schema.Kind, before *Index) (*Index, error) {
	return newIndex(objects, mutating, validating, before, webhook.Config{})
}

func newIndex(objects []*state.Object, mutating, validating *schema.Kind, before *Index, client webhook.Config) (*Index, error) {
	former := map[string]*configuration{}
	if before != nil {
		for _, c := range before.configurations {
			former[c.uid] = c
		}
	}
	x := &Index{}
	for _, o := range objects {
		if c := former[o.UID]; c != nil && c.version == o.Version {
			x.configurations = append(x.configurations, c)
			delete(former, o.UID)
			continue
		}
		k := validating
		if o.Key.Resource() == mutating.Resource {
			k = mutating
		}
		decoded, err := k.DecodeStored(o.Value)
		if err != nil {
			return nil, err
		}
		_, _, name := o.Key.Split()
		c := &configuration{uid: o.UID, name: name, version: o.Version, mutates: k == mutating}
		for _, v := range decoded.Root().Field("webhooks").Items() {
			c.hooks = append(c.hooks, newHook(name, v, client))
		}
		x.configurations = append(x.configurations, c)
	}
	for _, c := range former {
		for _, h := range c.hooks {
			h.close()
		}
	}
	x.order()
	return x, nil
}

// order lists the webhooks in the order of the names of their configurations.
func (x *Index) order() {
	slices.SortStableFunc(x.configurations, func(a, b *configuration) int { return cmp.Compare(a.name, b.name) })
	for _, c := range x.configurations {
		list := &x.validating
		if c.mutates {
			list = &x.mutating
		}
		*list = append(*list, c.hooks...)
	}
}

// Close closes idle connections. Calls under way go on.
func (x *Index) Close() {
	for _, c := range x.configurations {
		for _, h := range c.hooks {
			h.close()
		}
	}
}
