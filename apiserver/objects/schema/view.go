package schema

import (
	"bytes"
	"errors"
	"slices"
	"strings"
)

// A view is a kind whose objects are stored in the form of another kind. There are three:
//   - The messages are the same. Only the apiVersion at the beginning of the stored bytes and the
//     path in selfLink differ.
//   - The view is in another API group, and some fields hold the group of the kind; see renaming.
//   - The messages differ. Fields have other names (key `storedAs`), or hooks convert between the
//     two.

// Storage returns the kind in whose form objects are stored. For a kind that is not a view, that is
// the kind itself.
func (k *Kind) Storage() *Kind { return k.storage }

// Converts reports whether the kind is a view whose message differs from that of the stored
// objects.
func (k *Kind) Converts() bool { return k.converts }

// ToStorage converts an object to the form in which it is stored. It returns o itself if its kind
// is not a view, or if a VersionConverter converts it: such objects can be stored in any version.
func (k *Kind) ToStorage(o *Object) *Object {
	if k.ConvertsRemotely() {
		return o // StorageForm converts it
	}
	return convert(o, k.storage, k.hooks.toStorage)
}

// FromStorage converts a stored object to the form of this kind. It returns o itself if the kind is
// not a view and serves objects as they are stored. An error means invalid stored data.
func (k *Kind) FromStorage(o *Object) (*Object, error) {
	if k.adapter != nil {
		var err error
		if o, err = k.adapter.adapt(o); err != nil {
			return nil, err
		}
	}
	return convert(o, k, k.hooks.fromStorage), nil
}

func convert(o *Object, to *Kind, fn Converter) *Object {
	if o.Kind == to {
		return o
	}
	if o.Kind.Message.Spec == to.Message.Spec {
		return o.as(to)
	}
	if fn == nil {
		return o
	}
	out := to.New()
	if m := o.Metadata(); m != nil {
		out.root.box.kids[to.slots.metadata] = m.retype(to.slots.metaType)
	}
	fn(o, out)
	if link := out.SelfLink(); link != "" {
		out.SetSelfLink(to.relink(link))
	}
	return out
}

// relink returns the selfLink of an object, whichever kind it was written through, as one of this
// kind: with this kind's prefix. Text that is no path of an object stays.
func (k *Kind) relink(link string) string {
	n := prefixLen(link)
	if n == 0 {
		return link
	}
	return k.Prefix + link[n:]
}

// prefixLen returns the length of the prefix in the path of an object: of /apis/GROUP/VERSION, or
// of /api/VERSION and the like. It is 0 for other texts.
func prefixLen(link string) int {
	segments := 2
	if strings.HasPrefix(link, "/apis/") {
		segments = 3
	}
	n := 0
	for range segments {
		if n == len(link) || link[n] != '/' {
			return 0
		}
		next := strings.IndexByte(link[n+1:], '/')
		if next < 0 {
			return 0
		}
		n += 1 + next
	}
	return n
}

// as returns the object as another version of its kind, or as its kind in another group, either of
// the same form. The two share all values except the root message; the metadata, whose selfLink
// differs; and those that contain the group.
func (o *Object) as(to *Kind) *Object {
	groups := to.groups
	if to == o.Kind.storage {
		groups = o.Kind.groups.inverse()
	}
	root := *groups.value(o.root, to.Message.typ)
	root.box = &box{kids: slices.Clone(root.box.kids), keys: root.box.keys}
	root.box.kids[to.slots.version] = &Value{typ: to.Message.fields[to.slots.version].Type, str: to.APIVersion}
	out := &Object{Kind: to, root: &root}
	if link := o.SelfLink(); link != "" {
		metadata := *o.Metadata()
		metadata.box = &box{kids: slices.Clone(metadata.box.kids), keys: metadata.box.keys}
		metadata.box.kids[to.slots.selfLink] = nil // not the shared value
		root.box.kids[to.slots.metadata] = &metadata
		out.SetSelfLink(to.relink(link))
	}
	return out
}

// Present returns a stored value as the kind serves it: unchanged; with the apiVersion and the
// selfLink of the kind, if the value was stored as another version (K10); or decoded and converted.
// An error means invalid stored data.
func (k *Kind) Present(value []byte) ([]byte, error) {
	prefix, rest, err := k.Parts(value)
	if err != nil || prefix == "" {
		return rest, err
	}
	out := make([]byte, 0, len(prefix)+len(rest))
	return append(append(out, prefix...), rest...), nil
}

// linkKey precedes the selfLink in stored metadata. Names and namespaces, which precede it, contain
// no such bytes: quotes in texts are escaped.
const linkKey = `"selfLink":"`

// Parts returns the result of Present as two parts, to avoid a copy. The first may be empty.
func (k *Kind) Parts(value []byte) (prefix string, rest []byte, err error) {
	adapts := k.adapts(value)
	switch {
	case !adapts && (!k.renames && !k.converts || bytes.HasPrefix(value, []byte(k.prefix))):
		return "", value, nil
	case adapts, k.converts:
		o, err := k.fromStored(value)
		if err != nil {
			return "", nil, err
		}
		return "", o.AppendJSON(nil), nil
	}
	rest = value
	for range 2 { // skip kind and apiVersion, whose texts contain no commas
		_, rest, _ = bytes.Cut(rest, []byte{','})
	}
	before, after, ok := bytes.Cut(rest, []byte(linkKey))
	if !ok {
		return k.prefix, rest, nil
	}
	link, _, _ := bytes.Cut(after, []byte{'"'})
	n := prefixLen(string(link))
	if n == 0 {
		return k.prefix, rest, nil
	}
	return k.prefix + string(before) + linkKey + k.Prefix, after[n:], nil
}

// fromStored decodes a stored value and converts it to the form of this kind.
func (k *Kind) fromStored(value []byte) (*Object, error) {
	o, err := k.storage.DecodeStored(value)
	if err != nil {
		// Not wrapped: stored bytes that can't be decoded are not the client's fault.
		return nil, errors.New("read a stored object: " + err.Error())
	}
	return k.FromStorage(o)
}
