package structural

import (
	"context"
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
)

// MetadataError reports kind, apiVersion or metadata of an embedded resource that cannot be
// decoded.
type MetadataError struct {
	Err *field.Error
}

func (e *MetadataError) Error() string { return e.Err.Error() }
func (e *MetadataError) Unwrap() error { return e.Err }

// coerce checks the types of kind, apiVersion and metadata of embedded resources, and removes the
// fields of metadata that do not exist.
func (z *normalizer) coerce(v *value, n *node, path *field.Path) error {
	if n == nil || !n.resources {
		return nil
	}
	if v.kind == array {
		for i := range v.kids {
			if err := z.coerce(&v.kids[i].value, n.items, path.Index(i)); err != nil {
				return err
			}
		}
	}
	if v.kind != object {
		return nil
	}
	for i := range v.kids {
		kid := &v.kids[i]
		if n.embedded {
			if err := z.coerceMeta(kid, path.Child(kid.name)); err != nil {
				return err
			}
		}
		schema, at := n.property(kid.name), path.Child(kid.name)
		if schema == nil {
			schema, at = n.values, path.Key(kid.name)
		}
		if err := z.coerce(&kid.value, schema, at); err != nil {
			return err
		}
	}
	return nil
}

// coerceMeta coerces a member of an embedded resource.
func (z *normalizer) coerceMeta(kid *member, path *field.Path) error {
	switch kid.name {
	case "kind", "apiVersion":
		if kid.kind != text {
			return &MetadataError{field.Invalid(path, kid.plain(), "must be a string")}
		}
	case "metadata":
		meta, unknown, err := objectMeta(&kid.value)
		if err != nil {
			return &MetadataError{field.Invalid(path, kid.plain(), err.Error())}
		}
		for _, name := range unknown {
			z.dropAt(path, name)
		}
		kid.value = *meta
	}
	return nil
}

// objectMeta decodes metadata, and returns it in canonical form with the fields that do not exist.
func objectMeta(v *value) (meta *value, unknown []string, err error) {
	decoded, unknown, err := decodeMeta(v)
	if err != nil {
		return nil, nil, err
	}
	encoded, err := json.Marshal(decoded)
	if err != nil {
		return nil, nil, err
	}
	out, err := parse(string(encoded))
	if err != nil {
		return nil, nil, err
	}
	kids := out.kids[:0]
	for _, kid := range out.kids {
		if kid.name != "creationTimestamp" || kid.kind != null {
			kids = append(kids, kid)
		}
	}
	out.kids = kids
	return &out, unknown, nil
}

func decodeMeta(v *value) (*metav1.ObjectMeta, []string, error) {
	meta := &metav1.ObjectMeta{}
	strict, err := kjson.UnmarshalStrict(v.appendTo(nil), meta)
	if err != nil {
		return nil, nil, err
	}
	var unknown []string
	for _, e := range strict {
		if f, ok := e.(kjson.FieldError); ok {
			unknown = append(unknown, f.FieldPath())
		}
	}
	return meta, unknown, nil
}

// checkResources validates kind, apiVersion and metadata of the embedded resources in a value.
func checkResources(ctx context.Context, f *findings, v *value, n *node, path *field.Path) {
	if n == nil || !n.resources || f.more {
		return
	}
	switch v.kind {
	case array:
		for i := range v.kids {
			checkResources(ctx, f, &v.kids[i].value, n.items, path.Index(i))
		}
	case object:
		if n.embedded {
			f.add(checkResource(ctx, v, path)...)
		}
		for i := range v.kids {
			kid := &v.kids[i]
			if p := n.property(kid.name); p != nil {
				checkResources(ctx, f, &kid.value, p, path.Child(kid.name))
			} else {
				checkResources(ctx, f, &kid.value, n.values, path.Key(kid.name))
			}
		}
	}
}

// checkResource validates kind, apiVersion and metadata of a resource.
func checkResource(ctx context.Context, v *value, path *field.Path) field.ErrorList {
	errs := checkName(v, "apiVersion", path, func(s string) string {
		if _, err := apischema.ParseGroupVersion(s); err != nil {
			return err.Error()
		}
		return ""
	})
	errs = append(errs, checkName(v, "kind", path, func(s string) string {
		if why := utilvalidation.IsDNS1035Label(strings.ToLower(s)); len(why) > 0 {
			return "may have mixed case, but should otherwise match: " + strings.Join(why, ",")
		}
		return ""
	})...)
	m := v.member("metadata")
	if m == nil {
		return errs
	}
	path = path.Child("metadata")
	meta, _, err := decodeMeta(m)
	if err != nil {
		return append(errs, field.Invalid(path, m.plain(), err.Error()))
	}
	if meta.Name == "" {
		meta.Name = "fakename" // A resource inside of another needs no name.
	}
	return append(errs, metavalidation.ValidateObjectMetaDeclaratively(ctx, operation.Create, meta, nil, meta.Namespace != "", checkSegment, path, false)...)
}

func checkSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

// checkName validates a member that must be a string. why returns what is wrong with it.
func checkName(v *value, name string, path *field.Path, why func(string) string) field.ErrorList {
	m, path := v.member(name), path.Child(name)
	switch {
	case m == nil:
		return field.ErrorList{field.Required(path, "")}
	case m.kind != text:
		return field.ErrorList{field.Invalid(path, m.plain(), "must be a string")}
	case m.text == "":
		return field.ErrorList{field.Invalid(path, m.text, "must not be empty")}
	}
	if wrong := why(m.text); wrong != "" {
		return field.ErrorList{field.Invalid(path, m.text, wrong)}
	}
	return nil
}
