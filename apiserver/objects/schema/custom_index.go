package schema

import (
	"context"
	"slices"
)

// indexedValue is the value of a selectable field that the object itself does not have: it is one of
// another version of the kind.
type indexedValue struct{ label, value string }

// Storable returns the object in its storage form, with the values of the fields that can only be
// selected in other versions. A VersionConverter is asked for those that the object's version does
// not have.
func (o *Object) Storable(ctx context.Context) (*Object, error) {
	form, err := o.StorageForm(ctx)
	if err != nil || !o.Kind.ConvertsRemotely() {
		return form, err
	}
	storable := &Object{Kind: form.Kind, root: form.root}
	forms := []*Object{form, o}
	for _, s := range form.Kind.indexed() {
		if form.Kind.selects(s.label) {
			continue
		}
		at := slices.IndexFunc(forms, func(known *Object) bool { return known.Kind.selects(s.label) })
		if at < 0 {
			other, err := form.toVersion(ctx, s.label)
			if err != nil {
				return nil, err
			}
			at, forms = len(forms), append(forms, other)
		}
		storable.others = append(storable.others, indexedValue{s.label, forms[at].selected(&s)})
	}
	return storable, nil
}

// selects reports whether field selectors of this version may name a field.
func (k *Kind) selects(label string) bool {
	return slices.ContainsFunc(k.selectors, func(s selector) bool { return s.label == label })
}

// toVersion returns the object in the first version in which a field can be selected.
func (o *Object) toVersion(ctx context.Context, label string) (*Object, error) {
	versions := o.Kind.Versions()
	k := versions[slices.IndexFunc(versions, func(v *Kind) bool { return v.selects(label) })]
	converted, err := k.callConverter(ctx, o.Kind.APIVersion, [][]byte{o.AppendJSON(nil)})
	if err != nil {
		return nil, err
	}
	return k.fromConverted(o.Kind.APIVersion, converted[0])
}

// indexValue returns the value that is stored with the object for an indexed field.
func (o *Object) indexValue(s *selector) string {
	for i := range o.others {
		if o.others[i].label == s.label {
			return o.others[i].value
		}
	}
	return o.selected(s)
}
