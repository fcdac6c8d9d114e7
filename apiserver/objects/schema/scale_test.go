package schema_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"quorate/apiserver/objects/schema"
)

// TestScaleForms_H11 converts the scale of a full StatefulSet to each form, for both versions of
// the kind, and reads it back.
func TestScaleForms_H11(t *testing.T) {
	cat := catalog(t)
	for _, prefix := range []string{"/apis/apps/v1beta2", "/apis/apps/v1"} {
		t.Run(strings.Trim(prefix, "/"), func(t *testing.T) {
			k := cat.Kind(prefix, "statefulsets")
			decoded := full(t, k.Storage())
			scale := restore(t, k.Scale, decoded)
			want := formsOf(t, scale)
			for name, got := range want.files("scale") {
				golden(t, filepath.Join("full", name), got)
			}
			presented, err := k.Scale.Present(decoded.AppendJSON(nil))
			if err != nil || !bytes.Equal(presented, scale.AppendJSON(nil)) {
				t.Errorf("presented %s, want %s (%v)", presented, scale.AppendJSON(nil), err)
			}
			envelope, err := k.Scale.AppendProtobufEnvelope(nil, decoded.AppendJSON(nil))
			if err != nil {
				t.Fatal(err)
			}
			apiVersion, kind, raw, err := schema.CutEnvelope(envelope)
			if err != nil || apiVersion != "autoscaling/v1" || kind != "Scale" || !bytes.Equal(raw, want.protobuf) {
				t.Errorf("protobuf of %s %s: %q, want %q (%v)", apiVersion, kind, raw, want.protobuf, err)
			}
			fromProtobuf, _, err := k.Scale.DecodeProtobuf(raw)
			if err != nil {
				t.Fatal(err)
			}
			for form, o := range map[string]*schema.Object{
				"JSON": fromJSON(t, k.Scale, presented), "YAML": fromYAML(t, k.Scale, want.yaml), "protobuf": fromProtobuf,
			} {
				if !bytes.Equal(o.AppendJSON(nil), presented) {
					t.Errorf("from %s: %s", form, o.AppendJSON(nil))
				}
			}
		})
	}
}

// TestRescale_H11 checks that a scale sets the replicas, and that its version and uid become
// preconditions of the update.
func TestRescale_H11(t *testing.T) {
	k := catalog(t).Kind("/apis/apps/v1", "statefulsets")
	o := k.New()
	o.SetName("m")
	k.Rescale(o, fromJSON(t, k.Scale, []byte(`{"metadata":{"name":"m","uid":"u","resourceVersion":"7","labels":{"a":"b"}},"spec":{"replicas":3},"status":{"replicas":9}}`)))
	if got := o.Root().Lookup("spec", "replicas").Int(); got != 3 || o.UID() != "u" || o.ResourceVersion() != "7" {
		t.Errorf("%d replicas of %s at %s", got, o.UID(), o.ResourceVersion())
	}
	if o.Labels().IsSet() || o.Root().Lookup("status", "replicas").IsSet() {
		t.Errorf("more than that was taken: %s", o.AppendJSON(nil))
	}
}

func TestSelectorText(t *testing.T) {
	m := catalog(t).Message("LabelSelector")
	for want, selector := range map[string]string{
		"":        `{}`,
		"a=b,c=d": `{"matchLabels":{"c":"d","a":"b"}}`,
		"a,b=1,!c,d in (x,y),e notin (z)": `{"matchLabels":{"b":"1"},"matchExpressions":[{"key":"e","operator":"NotIn","values":["z"]},` +
			`{"key":"d","operator":"In","values":["y","x"]},{"key":"c","operator":"DoesNotExist"},{"key":"a","operator":"Exists"}]}`,
	} {
		v, _, err := m.Decode([]byte(selector))
		if err != nil {
			t.Fatal(err)
		}
		if got := schema.SelectorText(v); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// restore converts a stored object to the form of a kind.
func restore(t testing.TB, k *schema.Kind, stored *schema.Object) *schema.Object {
	t.Helper()
	o, err := k.FromStorage(stored)
	if err != nil {
		t.Fatal(err)
	}
	return o
}
