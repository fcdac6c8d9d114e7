package schema

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
)

// VersionConverter converts objects of a custom kind between its versions. It must be safe for
// concurrent use, and bound the time that it takes.
type VersionConverter interface {
	// Convert returns objects in the form of apiVersion, in the same order. They are JSON texts of
	// any versions of the kind.
	Convert(ctx context.Context, apiVersion string, objects [][]byte) ([][]byte, error)
}

// ConversionError reports that a VersionConverter could not convert an object.
type ConversionError struct {
	Kind, APIVersion string // from which the object was to be converted
	Err              error
}

func (e *ConversionError) Error() string {
	return fmt.Sprintf("conversion webhook for %s, Kind=%s failed: %v", e.APIVersion, e.Kind, e.Err)
}

// ConvertsRemotely reports whether a VersionConverter converts objects between the versions of the
// kind.
func (k *Kind) ConvertsRemotely() bool { return k.custom != nil && k.custom.converter != nil }

// storedAs returns the version of the kind in whose form a value is stored. Without a
// VersionConverter all versions have one form, and it returns k.
func (k *Kind) storedAs(value []byte) *Kind {
	if !k.isOtherVersion(value) {
		return k
	}
	for _, version := range k.Versions() {
		if bytes.HasPrefix(value, []byte(version.prefix)) {
			return version
		}
	}
	return k
}

// isOtherVersion reports whether a VersionConverter has to convert a value.
func (k *Kind) isOtherVersion(value []byte) bool {
	return k.ConvertsRemotely() && !bytes.HasPrefix(value, []byte(k.prefix))
}

// convertRemotely returns an object of another version in the form of this one.
func (k *Kind) convertRemotely(o *Object) (*Object, error) {
	converted, err := k.callConverter(context.Background(), o.Kind.APIVersion, [][]byte{o.AppendJSON(nil)})
	if err != nil {
		return nil, err
	}
	return k.fromConverted(o.Kind.APIVersion, converted[0])
}

func (k *Kind) callConverter(ctx context.Context, from string, objects [][]byte) ([][]byte, error) {
	converted, err := k.custom.converter.Convert(ctx, k.APIVersion, objects)
	if err != nil {
		return nil, &ConversionError{k.Kind, from, err}
	}
	return converted, nil
}

// fromConverted returns a converted object without the fields that the schema does not have, and
// with its defaults.
func (k *Kind) fromConverted(from string, text []byte) (*Object, error) {
	o, _, err := k.Decode(text)
	if err != nil {
		return nil, &ConversionError{k.Kind, from, err}
	}
	if link := o.SelfLink(); link != "" {
		o.SetSelfLink(k.relink(link))
	}
	return o, nil
}

// StorageForm returns the object in the version in which objects are stored. It returns o itself
// unless a VersionConverter converts it.
func (o *Object) StorageForm(ctx context.Context) (*Object, error) {
	storage := o.Kind.storage
	if !o.Kind.ConvertsRemotely() || o.Kind == storage {
		return o, nil
	}
	converted, err := storage.callConverter(ctx, o.Kind.APIVersion, [][]byte{o.AppendJSON(nil)})
	if err != nil {
		return nil, err
	}
	return storage.fromConverted(o.Kind.APIVersion, converted[0])
}

// ConvertStored returns stored values in the form of this kind, in the same order. It calls the
// VersionConverter at most once, for those that are stored in another version; the others are
// returned as they are.
func (k *Kind) ConvertStored(ctx context.Context, values [][]byte) ([][]byte, error) {
	var others [][]byte
	for _, value := range values {
		if k.isOtherVersion(value) {
			others = append(others, value)
		}
	}
	if len(others) == 0 {
		return values, nil
	}
	from := k.storedAs(others[0]).APIVersion
	converted, err := k.callConverter(ctx, from, others)
	if err != nil {
		return nil, err
	}
	out := make([][]byte, len(values))
	for i, value := range values {
		if !k.isOtherVersion(value) {
			out[i] = value
			continue
		}
		o, err := k.fromConverted(from, converted[0])
		if err != nil {
			return nil, err
		}
		out[i], converted = o.AppendJSON(nil), converted[1:]
	}
	return out, nil
}

// ConvertContent returns the content of an object, or of a part of one, in the form of this kind,
// without pruning and defaults.
func (k *Kind) ConvertContent(content map[string]any) (map[string]any, error) {
	text, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	from, _ := content["apiVersion"].(string)
	converted, err := k.callConverter(context.Background(), from, [][]byte{text})
	if err != nil {
		return nil, err
	}
	var out map[string]any
	if err := json.Unmarshal(converted[0], &out); err != nil {
		return nil, &ConversionError{k.Kind, from, err}
	}
	return out, nil
}
