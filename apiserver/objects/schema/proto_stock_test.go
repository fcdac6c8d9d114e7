package schema_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"quorate/apiserver/objects/schema"
)

// TestReadsStockProtobuf_B20 checks that protobuf written by the types of stock Go clients
// (testdata/stock, kept up to date by module chaos/clients) decodes to the same object as their
// JSON.
func TestReadsStockProtobuf_B20(t *testing.T) {
	cat := catalog(t)
	for _, k := range kindsOfOwnForm(t) {
		raw, plain := stockFiles(t, goldenName(k))
		if raw == nil {
			continue // client-go has no such type
		}
		t.Run(goldenName(k), func(t *testing.T) {
			fromProtobuf, dropped, err := k.DecodeProtobuf(raw)
			if err != nil {
				t.Fatal(err)
			}
			fromJSON, droppedFromJSON, err := k.Decode(neutral(t, k, plain))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := dropped.List(), droppedFromJSON.List(); len(got) > len(want) {
				t.Errorf("problems of protobuf %q, of JSON %q", got, want)
			}
			for _, v := range fromJSON.Root().Lookup("spec", "versions").Items() { // neutral sorts the members of schemas
				if err := v.Lookup("schema", "openAPIV3Schema").CanonicalizeTree(); err != nil {
					t.Fatal(err)
				}
			}
			if !schema.Equal(fromProtobuf.Root(), fromJSON.Root()) {
				t.Errorf("from protobuf %s\nfrom JSON     %s", fromProtobuf.AppendJSON(nil), fromJSON.AppendJSON(nil))
			}
		})
	}
	for name, message := range map[string]string{"status": "Status", "deleteoptions": "DeleteOptions"} {
		t.Run(name, func(t *testing.T) {
			raw, plain := stockFiles(t, name)
			v, _, err := cat.Message(message).DecodeProtobuf(raw)
			if err != nil {
				t.Fatal(err)
			}
			if got := append(v.AppendJSON(nil), '\n'); !bytes.Equal(got, plain) {
				t.Errorf("got  %s\nwant %s", got, plain)
			}
			// Only newer groups have a continue in a Status (§2.2); upstream writes an empty one.
			raw = bytes.Replace(raw, []byte("\n\x06\n\x00\x12\x00\x1a\x00"), []byte("\n\x04\n\x00\x12\x00"), 1)
			if got := v.AppendProtobuf(nil); !bytes.Equal(got, raw) {
				t.Errorf("got  %q\nwant %q", got, raw)
			}
		})
	}
}

// TestWritesStockProtobuf_B20 checks the bytes of lists and watch events around objects.
func TestWritesStockProtobuf_B20(t *testing.T) {
	remaining := int64(300)
	head := schema.AppendListHead(nil, schema.ListMeta{SelfLink: "s", ResourceVersion: "7", Continue: "c", RemainingItemCount: &remaining})
	if want, _ := stockFiles(t, "listmeta"); !bytes.HasSuffix(head, want) || len(head) != len(want)+2 {
		t.Errorf("got %q, want %q in it", head, want)
	}
	event := append(schema.WatchEventHead(nil, "ADDED", 2), "{}"...)
	if want, _ := stockFiles(t, "watchevent"); !bytes.Equal(event, want) {
		t.Errorf("got %q, want %q", event, want)
	}
}

func stockFiles(t *testing.T, name string) (raw, plain []byte) {
	t.Helper()
	path := filepath.Join("testdata", "stock", name)
	raw, err := os.ReadFile(path + ".pb")
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		t.Fatal(err)
	}
	if plain, err = os.ReadFile(path + ".json"); err != nil {
		t.Fatal(err)
	}
	return raw, plain
}

// neutral converts the JSON of an upstream object to the field names of the kind.
func neutral(t *testing.T, k *schema.Kind, plain []byte) []byte {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(plain, &v); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	upstreamNames(k.Message, names, map[*schema.Message]bool{})
	rename(v, names)
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// upstreamNames collects the fields whose upstream names differ from ours.
func upstreamNames(m *schema.Message, names map[string]string, seen map[*schema.Message]bool) {
	if seen[m] {
		return
	}
	seen[m] = true
	for _, f := range m.Fields() {
		if f.Spec.Upstream != "" {
			names[f.Spec.Upstream] = f.Name
		}
		t := f.Type
		for t.Elem() != nil {
			t = t.Elem()
		}
		if t.Message() != nil {
			upstreamNames(t.Message(), names, seen)
		}
	}
}

func rename(v any, names map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			rename(member, names)
			if ours := names[name]; ours != "" {
				delete(v, name)
				v[ours] = member
			}
		}
	case []any:
		for _, item := range v {
			rename(item, names)
		}
	}
}
