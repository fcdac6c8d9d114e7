package apply

import (
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// lenient returns a type like t that also allows fields which t does not have, with types deduced
// from their values, and any value where t has a scalar.
func lenient(t *typed.ParseableType) *typed.ParseableType {
	relaxed := &smd.Schema{}
	for _, def := range t.Schema.Types {
		if def.Name != atomicType && def.Name != deducedType {
			def.Atom = lenientAtom(def.Atom)
		}
		relaxed.Types = append(relaxed.Types, def)
	}
	return &typed.ParseableType{Schema: relaxed, TypeRef: lenientRef(t.TypeRef)}
}

func lenientAtom(a smd.Atom) smd.Atom {
	if a.Scalar != nil {
		return whole()
	}
	out := smd.Atom{}
	if a.List != nil {
		list := *a.List
		list.ElementType = lenientRef(list.ElementType)
		out.List = &list
	}
	if a.Map != nil {
		out.Map = &smd.Map{Unions: a.Map.Unions, ElementType: lenientRef(a.Map.ElementType), ElementRelationship: a.Map.ElementRelationship}
		if (a.Map.ElementType == smd.TypeRef{}) {
			out.Map.ElementType = named(deducedType)
		}
		for _, f := range a.Map.Fields {
			f.Type = lenientRef(f.Type)
			out.Map.Fields = append(out.Map.Fields, f)
		}
	}
	return out
}

// lenientRef does the same for an inlined type. A named one is lenient where it is defined.
func lenientRef(r smd.TypeRef) smd.TypeRef {
	if (r.Inlined != smd.Atom{}) {
		r.Inlined = lenientAtom(r.Inlined)
	}
	return r
}
