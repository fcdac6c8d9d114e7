package conversion

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	reviewGroup   = "apiextensions.k8s.io/"
	reviewVersion = reviewGroup + "v1"
	reviewKind    = "ConversionReview"
)

// review is a ConversionReview in apiextensions.k8s.io, in v1 or v1beta1, which have the same form.
type review struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Request    *reviewRequest  `json:"request,omitempty"`
	Response   *reviewResponse `json:"response,omitempty"`
}

type reviewRequest struct {
	UID               string            `json:"uid"`
	DesiredAPIVersion string            `json:"desiredAPIVersion"`
	Objects           []json.RawMessage `json:"objects"`
}

type reviewResponse struct {
	UID              string     `json:"uid"`
	ConvertedObjects objectList `json:"convertedObjects"`
	Result           struct {
		Status  string `json:"status"`
		Message string `json:"message"`
	} `json:"result"`
}

// maxObjects bounds the objects of an answer that are kept, which is more than are ever sent: the
// items of an answer of numbers would take many times the memory of their text.
const maxObjects = 1000

// objectList is a list of objects.
type objectList struct {
	kept  []json.RawMessage // the first maxObjects
	count int               // of all
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *objectList) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	begin, err := d.Token()
	if err != nil || begin == nil {
		return err
	}
	if begin != json.Delim('[') {
		return errors.New("convertedObjects is not a list")
	}
	var surplus json.RawMessage
	for d.More() {
		to := &surplus
		if l.count < maxObjects {
			l.kept = append(l.kept, nil)
			to = &l.kept[l.count]
		}
		if err := d.Decode(to); err != nil {
			return err
		}
		l.count++
	}
	return nil
}

// check returns the converted objects of an answer to asked, with the metadata of the originals but
// for labels and annotations. An error says how the answer differs from what was asked. Webhooks of
// v1beta1 need not repeat what identifies the review: Kubernetes has never checked it.
func (r *review) check(asked *review, originals [][]byte) ([][]byte, error) {
	strict, uid := asked.APIVersion == reviewVersion, asked.Request.UID
	if strict && (r.APIVersion != reviewVersion || r.Kind != reviewKind) {
		return nil, fmt.Errorf("expected webhook response of %s, Kind=%s, got %s, Kind=%s", reviewVersion, reviewKind, r.APIVersion, r.Kind)
	}
	answer := r.Response
	switch {
	case answer == nil:
		return nil, errors.New("no response provided")
	case strict && answer.UID != uid:
		return nil, fmt.Errorf("expected response.uid=%q, got %q", uid, answer.UID)
	case answer.Result.Status == "":
		return nil, errors.New(`response.result.status was '', expected 'Success'`)
	case answer.Result.Status != "Success" && answer.Result.Message == "":
		return nil, fmt.Errorf("response.result.status was '%s', expected 'Success'", answer.Result.Status)
	case answer.Result.Status != "Success":
		return nil, errors.New(answer.Result.Message)
	case answer.ConvertedObjects.count != len(originals) || len(answer.ConvertedObjects.kept) != len(originals):
		return nil, fmt.Errorf("webhook returned %d objects, expected %d", answer.ConvertedObjects.count, len(originals))
	}
	converted := make([][]byte, len(originals))
	for i, original := range originals {
		var err error
		if converted[i], err = checked(asked.Request.DesiredAPIVersion, original, answer.ConvertedObjects.kept[i]); err != nil {
			return nil, fmt.Errorf("invalid converted object at index %d: %w", i, err)
		}
	}
	return converted, nil
}

// members are the members of a JSON object.
type members map[string]json.RawMessage

// text returns the string that a member holds, or "".
func (m members) text(name string) string {
	var s string
	if json.Unmarshal(m[name], &s) != nil {
		return ""
	}
	return s
}

// object reads the members of an object and of its metadata.
func object(text []byte) (all, metadata members, err error) {
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, nil, err
	}
	if all == nil {
		return nil, nil, errors.New("is null")
	}
	if err := json.Unmarshal(all["metadata"], &metadata); err != nil || metadata == nil {
		return nil, nil, errors.New("has no metadata")
	}
	return all, metadata, nil
}

// checked returns a converted object with the metadata that it may have.
func checked(apiVersion string, original, converted []byte) ([]byte, error) {
	before, metadata, err := object(original)
	if err != nil {
		return nil, fmt.Errorf("read the stored object: %w", err)
	}
	after, changed, err := object(converted)
	if err != nil {
		return nil, err
	}
	if have := after.text("apiVersion"); have != apiVersion {
		return nil, fmt.Errorf("invalid apiVersion (expected: %s, received: %s)", apiVersion, have)
	}
	if want, have := before.text("kind"), after.text("kind"); have != want {
		return nil, fmt.Errorf("invalid kind (expected: %s, received: %s)", want, have)
	}
	for _, name := range []string{"name", "namespace", "uid"} {
		if want, have := metadata.text(name), changed.text(name); have != want {
			return nil, fmt.Errorf("must have the same %s: %s != %s", name, have, want)
		}
	}
	if err := takeLabels(metadata, changed); err != nil {
		return nil, err
	}
	if after["metadata"], err = json.Marshal(metadata); err != nil {
		return nil, err
	}
	return json.Marshal(after)
}

// takeLabels replaces the labels and annotations in metadata by those of the converted object.
func takeLabels(metadata, converted members) error {
	path := field.NewPath("metadata")
	for name, validate := range map[string]func(map[string]string, *field.Path) field.ErrorList{
		"labels": metav1validation.ValidateLabels, "annotations": metavalidation.ValidateAnnotations,
	} {
		delete(metadata, name)
		var texts map[string]string
		if raw := converted[name]; raw == nil {
			continue
		} else if err := json.Unmarshal(raw, &texts); err != nil {
			return fmt.Errorf("%s: %w", path.Child(name), err)
		}
		if errs := validate(texts, path.Child(name)); len(errs) > 0 {
			return errs[0]
		}
		if len(texts) > 0 {
			metadata[name] = converted[name]
		}
	}
	return nil
}
