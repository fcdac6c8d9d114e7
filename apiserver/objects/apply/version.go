package apply

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"quorate/apiserver/objects/schema"
)

// errNoVersion reports an entry in a version that the kind does not have any more, or of which the
// object cannot be. The entry is dropped.
var errNoVersion = errors.New("the kind has no such version")

// converter converts objects between the versions of a kind. It implements merge.Converter.
type converter struct {
	kind  *schema.Kind
	types types
}

// IsMissingVersionError reports whether an object was not converted because there is no such
// version.
func (c converter) IsMissingVersionError(err error) bool { return errors.Is(err, errNoVersion) }

// Convert returns an object in another version.
func (c converter) Convert(object *typed.TypedValue, version fieldpath.APIVersion) (*typed.TypedValue, error) {
	content, ok := object.AsValue().Unstructured().(map[string]any)
	if !ok {
		return object, nil // null: an object without a field is one in any version
	}
	from, _ := content["apiVersion"].(string)
	if from == "" {
		from = c.kind.APIVersion
	}
	if from == string(version) {
		return object, nil
	}
	source, target := c.kind.AsVersion(from), c.kind.AsVersion(string(version))
	if source == nil || target == nil {
		return nil, errNoVersion
	}
	converted, err := convert(content, source, target)
	if err != nil {
		return nil, fmt.Errorf("convert %s from %s to %s: %w", source.Kind, from, version, err)
	}
	value, err := c.types.parse(target, converted, typed.AllowDuplicates)
	if err != nil && target.Custom() { // the schemas of the two versions contradict each other
		return nil, fmt.Errorf("%w as the object: %w", errNoVersion, err)
	}
	return value, err
}

// convert returns the content of an object in another version of its kind. Versions of one form
// differ in the apiVersion only.
func convert(content map[string]any, source, target *schema.Kind) (map[string]any, error) {
	if target.ConvertsRemotely() {
		return target.ConvertContent(content)
	}
	if source.Message == target.Message {
		out := maps.Clone(content)
		out["apiVersion"], out["kind"] = target.APIVersion, target.Kind
		return out, nil
	}
	text, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	o, _, err := source.Decode(text)
	if err != nil {
		return nil, err
	}
	if o, err = target.FromStorage(source.ToStorage(o)); err != nil {
		return nil, err
	}
	return o.Content()
}
