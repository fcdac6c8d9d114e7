package schema

import (
	"encoding/base64"
	"fmt"

	"sigs.k8s.io/json"
)

// Content returns the object as Go values for libraries that work on such values: maps, slices,
// strings, int64, float64 and bool. It has the members that the JSON encoding has, including null,
// except managedFields and a creationTimestamp that is null, such as that of a pod template. The
// caller owns the result.
func (o *Object) Content() (map[string]any, error) {
	out, err := o.root.messageContent()
	if err != nil {
		return nil, err
	}
	out["kind"], out["apiVersion"] = o.Kind.Kind, o.Kind.APIVersion
	if metadata, ok := out["metadata"].(map[string]any); ok {
		delete(metadata, "managedFields")
	}
	return out, nil
}

func (v *Value) messageContent() (map[string]any, error) {
	m := v.typ.message
	out := make(map[string]any, len(m.fields))
	for i, f := range m.fields {
		kid := v.box.kids[i]
		if f.omits(kid) || kid == nil && f.Name == "creationTimestamp" && m.Name == metaMessage {
			continue
		}
		content, err := f.content(kid)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		out[f.Name] = content
	}
	if m.open == nil {
		return out, nil
	}
	for i, name := range v.box.keys {
		content, err := v.box.kids[len(m.fields)+i].content()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = content
	}
	return out, nil
}

// content returns the value of a field that the encoding has.
func (f *Field) content(v *Value) (any, error) {
	if v != nil {
		return v.content()
	}
	switch f.Type.Form {
	case FormList, FormMap, FormBytes, FormTime, FormMicroTime, FormRaw:
		return nil, nil
	}
	if f.pointer {
		return nil, nil
	}
	return f.Type.New().content()
}

func (v *Value) content() (any, error) {
	switch v.typ.Form {
	case FormMessage:
		return v.messageContent()
	case FormList:
		return v.listContent()
	case FormMap:
		return v.mapContent()
	case FormBool:
		return v.num != 0, nil
	case FormInt32, FormInt64, FormUint32:
		return v.num, nil
	case FormDouble:
		return v.Float(), nil
	case FormBytes:
		return base64.StdEncoding.EncodeToString([]byte(v.str)), nil
	case FormTime, FormMicroTime:
		return v.Time().Format(v.typ.timeLayout()), nil
	case FormIntOrString:
		if v.box != textual {
			return v.num, nil
		}
	case FormRaw:
		var out any
		err := json.UnmarshalCaseSensitivePreserveInts([]byte(v.str), &out)
		return out, err
	}
	return v.str, nil
}

func (v *Value) listContent() (any, error) {
	out := make([]any, len(v.box.kids))
	for i, item := range v.box.kids {
		content, err := item.content()
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		out[i] = content
	}
	return out, nil
}

func (v *Value) mapContent() (any, error) {
	out := make(map[string]any, len(v.box.kids))
	for i, key := range v.box.keys {
		content, err := v.box.kids[i].content()
		if err != nil {
			return nil, fmt.Errorf("[%s]: %w", key, err)
		}
		out[key] = content
	}
	return out, nil
}
