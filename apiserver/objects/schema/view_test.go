package schema_test

import (
	"bytes"
	"strings"
	"testing"

	"quorate/apiserver/objects/schema"
	"quorate/raftstore/state"
)

// versions returns the kinds that are another version of a stored kind.
func versions(t *testing.T) []*schema.Kind {
	t.Helper()
	var found []*schema.Kind
	for _, k := range catalog(t).Kinds() {
		if k.Storage() != k && !k.Converts() {
			found = append(found, k)
		}
	}
	if len(found) == 0 {
		t.Fatal("no kind has another version")
	}
	return found
}

// TestVersionsShareTheStoredForm checks, for objects with every field, that another version's JSON
// and protobuf differ from the stored kind's only in the apiVersion and the selfLink, and that an
// object written through the other version is stored as the same bytes.
func TestVersionsShareTheStoredForm(t *testing.T) {
	for _, k := range versions(t) {
		t.Run(strings.Trim(k.Prefix, "/")+"/"+k.Plural, func(t *testing.T) {
			from := k.Storage()
			e := full(t, from).Encode()
			stored := state.Splice(e.Value, e.VersionOffset, 7)
			before := bytes.Clone(stored)
			want := bytes.Replace(stored, []byte(from.APIVersion), []byte(k.APIVersion), 1)
			want = bytes.Replace(want, []byte(`"selfLink":"`+from.Prefix), []byte(`"selfLink":"`+k.Prefix), 1)

			presented, err := k.Present(stored)
			if err != nil || !bytes.Equal(presented, want) || !bytes.Equal(stored, before) {
				t.Fatalf("%v\npresented %s\nwant      %s", err, presented, want)
			}
			if again, err := k.Present(presented); err != nil || &again[0] != &presented[0] {
				t.Errorf("what is in the kind's form already is copied: %v", err)
			}
			decoded, err := from.DecodeStored(stored)
			if err != nil {
				t.Fatal(err)
			}
			if got := restore(t, k, decoded).AppendJSON(nil); !bytes.Equal(got, want) {
				t.Errorf("decoded %s\nwant    %s", got, want)
			}
			o, problems, err := k.Decode(want)
			if err != nil || len(problems.List()) > 0 {
				t.Fatal(err, problems.List())
			}
			if got := k.ToStorage(o).Encode(); !got.SameAs(&state.Object{Value: stored, Version: 7, VersionOffset: e.VersionOffset}) {
				t.Errorf("stored %s\nwant   %s", got.Value, stored)
			}
			for form, value := range map[string][]byte{"stored": stored, "presented": presented} {
				envelope, err := k.AppendProtobufEnvelope(nil, value)
				if err != nil {
					t.Fatal(err)
				}
				apiVersion, kind, raw, err := schema.CutEnvelope(envelope)
				if err != nil || apiVersion != k.APIVersion || kind != k.Kind || !bytes.Equal(raw, o.AppendProtobuf(nil)) {
					t.Errorf("B20 from %s: %s %s %v", form, apiVersion, kind, err)
				}
			}
		})
	}
}

// TestConvertedKindsArePresented checks the JSON and protobuf that a kind with a form of its own
// serves for stored bytes.
func TestConvertedKindsArePresented(t *testing.T) {
	for _, k := range catalog(t).Kinds() {
		if !k.Converts() {
			continue
		}
		t.Run(goldenName(k), func(t *testing.T) {
			stored := k.ToStorage(full(t, k)).Encode().Value
			decoded, err := k.Storage().DecodeStored(stored)
			if err != nil {
				t.Fatal(err)
			}
			want := restore(t, k, decoded)
			presented, err := k.Present(stored)
			if err != nil || !bytes.Equal(presented, want.AppendJSON(nil)) {
				t.Errorf("%v\ngot  %s\nwant %s", err, presented, want.AppendJSON(nil))
			}
			item, err := k.AppendProtobufItem(nil, stored)
			if raw := want.AppendProtobuf(nil); err != nil || !bytes.HasSuffix(item, raw) {
				t.Errorf("%v\ngot  %q\nwant %q", err, item, raw)
			}
			if _, err := k.Present(append([]byte("x"), stored...)); err == nil {
				t.Error("bytes that are no object are presented")
			}
		})
	}
}
