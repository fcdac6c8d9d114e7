package custom

import (
	"slices"
	"sync/atomic"

	"quorate/apiserver/controllers/custom/conversion"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest/watch"
	"quorate/raftstore/state"
)

// Owner is a definition that is served: a ThirdPartyResource or a CustomResourceDefinition. An
// update that changes what is served results in another Owner.
type Owner struct {
	// Kinds are the kinds that clients can use.
	Kinds []Kind
	// Defined reports whether a CustomResourceDefinition is the owner.
	Defined bool

	key      state.Key
	uid      string
	index    atomic.Uint64 // newest version known to define the same kinds
	created  uint64        // index of its creation; all instances are newer, unless inherited
	resource string
	compiled []*schema.Kind // of all versions, whether served or not
	// successor is the key of the CustomResourceDefinition that can take over the instances of a
	// ThirdPartyResource. inherited means that a CustomResourceDefinition has done so.
	successor state.Key
	inherited bool
	// Of a CustomResourceDefinition: what defines the kinds, and its newest version that does.
	content content
	source  *atomic.Pointer[state.Object]
	webhook *conversion.Webhook // that converts the objects; nil if none does
}

// Kind is a kind that is served.
type Kind struct {
	*schema.Kind
	// End ends when the kind's routes are removed and its watches have no more events (K14, K15).
	End *watch.End
	// Warning is sent with each answer if it is not empty.
	Warning string
}

func newOwner(o *state.Object, resource string, compiled []*schema.Kind, former *Owner) *Owner {
	owner := &Owner{key: o.Key, uid: o.UID, created: o.Created, resource: resource, compiled: compiled}
	owner.index.Store(o.Version)
	for _, k := range compiled {
		if k.Served() {
			owner.Kinds = append(owner.Kinds, Kind{Kind: k, End: former.end(k.Version)})
		}
	}
	return owner
}

// standsIn reports whether the definition exists in root, possibly updated.
func (o *Owner) standsIn(root *state.Root) bool {
	found := root.Get(o.key)
	return found != nil && found.UID == o.uid
}

// holdsIn reports whether the definition exists in root in the newest version that is known to
// define the owner's kinds, and no other definition can have taken over its instances.
func (o *Owner) holdsIn(root *state.Root) bool {
	found := root.Get(o.key)
	return found != nil && found.UID == o.uid && found.Version == o.index.Load() &&
		(o.Defined || root.Get(o.successor) == nil)
}

// end returns the End of a version: that of the previous Owner o if o had the version, else a new
// one.
func (o *Owner) end(version string) *watch.End {
	if o != nil {
		for _, k := range o.Kinds {
			if k.Version == version {
				return k.End
			}
		}
	}
	return watch.NewEnd()
}

// continues reports whether the watches of an End go on.
func (o *Owner) continues(end *watch.End) bool {
	return slices.ContainsFunc(o.Kinds, func(k Kind) bool { return k.End == end })
}

// close closes idle connections, unless now goes on to use them. now may be nil.
func (o *Owner) close(now *Owner) {
	if o.webhook != nil && (now == nil || now.webhook != o.webhook) {
		o.webhook.Close()
	}
}

// storage returns the kind in whose form the instances are stored.
func (o *Owner) storage() *schema.Kind { return o.compiled[0].Storage() }
