package negotiate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/wire/negotiate"
)

// stored returns n objects in their stored form.
func stored(t testing.TB, k *schema.Kind, n, size int) [][]byte {
	t.Helper()
	values := make([][]byte, n)
	for i := range values {
		o, _, err := k.Decode(fmt.Appendf(nil, `{"metadata":{"name":"m%d","resourceVersion":"%d"},"data":{"a":%q}}`,
			i, i+7, strings.Repeat("x", size)))
		if err != nil {
			t.Fatal(err)
		}
		values[i] = o.AppendJSON(nil)
	}
	return values
}

// write writes a list as its handler does. It returns the document, and the most bytes that were in
// memory at a time in addition to the measured items.
func write(t testing.TB, l *negotiate.List, values [][]byte) (document []byte, most int) {
	t.Helper()
	if l.Form.Binary() {
		for _, v := range values {
			if err := l.Measure(v); err != nil {
				t.Fatal(err)
			}
		}
	}
	piece, err := l.AppendHead(nil)
	flush := func() {
		if err != nil {
			t.Fatal(err)
		}
		document, most = append(document, piece...), max(most, len(piece))
		piece = piece[:0]
	}
	flush()
	for p := range l.Pieces() {
		piece = append(piece, p...)
		flush()
	}
	for _, v := range values[l.Kept():] {
		piece, err = l.AppendItem(piece, v, l.Item.ListPrefix())
		flush()
	}
	piece, err = l.AppendTail(piece)
	flush()
	return document, most
}

const listMetadata = `{"selfLink":"/api/v1/configmaps","resourceVersion":"42","continue":"next","remainingItemCount":5}`

func TestListInProtobuf(t *testing.T) {
	t.Parallel()
	k := configMaps(t)
	const piece = 16 << 10
	for _, tc := range []struct {
		row         string
		items, size int
		keep        int // bound on the bytes that all lists keep
		kept        int // at least, items
		most        int // most bytes at a time
	}{
		{"C1 empty", 0, 0, piece, 0, 200},
		{"B18 short", 3, 10, piece, 3, 4 << 10},
		{"B18 of pieces", 300, 1000, 16 << 20, 300, piece},
		{"B18 items larger than a piece", 5, 2 * piece, 16 << 20, 5, 3 * piece},
		{"B18 longer than the bound", 10_000, 1000, 16 << 20, 7000, piece},
		{"B18 partly kept", 300, 1000, 70 << 10, 40, piece},
		{"B18 nothing kept", 300, 1000, 0, 0, 2000},
	} {
		t.Run(tc.row, func(t *testing.T) {
			t.Parallel()
			room := tc.keep
			l := &negotiate.List{Form: negotiate.Protobuf, Kind: k.ListKind, APIVersion: k.APIVersion, Item: k, Metadata: []byte(listMetadata), Keep: func(n int) bool {
				if n > room {
					return false
				}
				room -= n
				return true
			}}
			values := stored(t, k, tc.items, tc.size)
			document, most := write(t, l, values)
			if most > tc.most || l.Kept() < tc.kept || tc.keep-room > 8<<20 {
				t.Errorf("%d bytes at a time, %d items kept in %d bytes", most, l.Kept(), tc.keep-room)
			}
			apiVersion, kind, raw, err := schema.CutEnvelope(document)
			if err != nil || apiVersion != "v1" || kind != "ConfigMapList" {
				t.Fatalf("%s %s, %v", apiVersion, kind, err)
			}
			meta, items := listFields(t, raw)
			wantMeta := protowire.AppendString([]byte{0x0a}, "/api/v1/configmaps")
			wantMeta = protowire.AppendString(append(wantMeta, 0x12), "42")
			wantMeta = append(protowire.AppendString(append(wantMeta, 0x1a), "next"), 0x20, 5)
			if string(meta) != string(wantMeta) || len(items) != tc.items {
				t.Fatalf("metadata %q, %d items", meta, len(items))
			}
			for i, item := range items {
				o, err := k.DecodeStored(values[i])
				if err != nil || string(o.AppendProtobuf(nil)) != string(item) {
					t.Fatalf("item %d: %v", i, err)
				}
			}
		})
	}
}

// listFields splits a list message with a library that is independent of the encoder.
func listFields(t *testing.T, raw []byte) (meta []byte, items [][]byte) {
	t.Helper()
	for len(raw) > 0 {
		number, wire, n := protowire.ConsumeTag(raw)
		if n < 0 || wire != protowire.BytesType {
			t.Fatalf("wire type %d", wire)
		}
		value, size := protowire.ConsumeBytes(raw[n:])
		if size < 0 {
			t.Fatal(protowire.ParseError(size))
		}
		if number == 1 {
			meta = value
		} else {
			items = append(items, value)
		}
		raw = raw[n+size:]
	}
	return meta, items
}

// The length of a protobuf list is written first, so it must hold: other items than the measured
// ones are an error.
func TestMeasuredItemsAreWritten(t *testing.T) {
	t.Parallel()
	k := configMaps(t)
	values := stored(t, k, 100, 1000)
	l := &negotiate.List{
		Form: negotiate.Protobuf, Kind: k.ListKind, APIVersion: k.APIVersion, Item: k, Metadata: []byte(listMetadata), Keep: func(int) bool { return false },
	}
	for _, v := range values {
		if err := l.Measure(v); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.AppendHead(nil); err != nil {
		t.Fatal(err)
	}
	for _, v := range values[1:] {
		if _, err := l.AppendItem(nil, v, k.ListPrefix()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.AppendTail(nil); err == nil {
		t.Error("AppendTail accepted a list that lacks an item")
	}
}

// The text forms of a list have the same content.
func TestListsAgree(t *testing.T) {
	t.Parallel()
	k := configMaps(t)
	rows := [][]byte{[]byte(`{"cells":["a: b",1,"two\nlines"]}`), []byte(`{"cells":[]}`)}
	for name, tc := range map[string]struct {
		columns []byte
		values  [][]byte
		prefix  int
	}{
		"C1 items":    {nil, stored(t, k, 3, 10), k.ListPrefix()},
		"C1 none":     {nil, nil, k.ListPrefix()},
		"B24 rows":    {[]byte(`[{"name":"N","priority":0},{"name":"M","priority":1}]`), rows, 1},
		"B24 no rows": {[]byte(`[{"name":"N","priority":0}]`), nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want string
			for _, form := range []negotiate.Form{negotiate.JSON, negotiate.PrettyJSON, negotiate.YAML} {
				l := &negotiate.List{Form: form, Kind: "SomeList", APIVersion: "v1", Item: k, Metadata: []byte(listMetadata), Columns: tc.columns}
				document := written(t, l, tc.values, tc.prefix)
				got := sorted(t, document, form)
				if want == "" {
					want = got
				}
				if got != want {
					t.Errorf("form %v: %s, want %s", form, got, want)
				}
			}
		})
	}
}

// written returns a list in a text form.
func written(t *testing.T, l *negotiate.List, values [][]byte, prefix int) []byte {
	t.Helper()
	document, err := l.AppendHead(nil)
	for _, v := range values {
		if err == nil {
			document, err = l.AppendItem(document, v, prefix)
		}
	}
	if err == nil {
		document, err = l.AppendTail(document)
	}
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// sorted returns a document as JSON with its members sorted by name.
func sorted(t *testing.T, document []byte, form negotiate.Form) string {
	t.Helper()
	var err error
	if form == negotiate.YAML {
		document, err = schema.YAMLToJSON(document, maxBytes)
	}
	var decoded any
	if err == nil {
		err = json.Unmarshal(document, &decoded)
	}
	if err != nil {
		t.Fatalf("form %v: %v: %s", form, err, document)
	}
	text, err := json.Marshal(decoded)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// AppendProtobuf refuses a document of another kind instead of writing an empty object.
func TestAppendProtobufKnowsItsKind(t *testing.T) {
	t.Parallel()
	if _, err := negotiate.AppendProtobuf(nil, []byte(`{"kind":"Status","apiVersion":"v1"}`), configMaps(t)); err == nil {
		t.Error("AppendProtobuf wrote a Status as a ConfigMap")
	}
}
