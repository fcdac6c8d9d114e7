package schema

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// FuzzDecodeProtobuf checks that the decoder accepts or rejects any bytes without panic, and that
// an accepted object decodes to itself after it was encoded.
func FuzzDecodeProtobuf(f *testing.F) {
	cat := engine(f)
	for i := range cat.Kinds() {
		for _, name := range []string{"clusterrolebinding.legacy", "configmap", "event", "image", "horizontalpodautoscaler"} {
			raw, err := os.ReadFile(filepath.Join("testdata", "golden", "full", name+".pb"))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(i), raw)
		}
		f.Add(uint8(i), []byte("\x0a\x04\x5a\x02\x0a\x00\x0b\x0c\xfd\x07\x01\x02\x03\x04"))
	}
	f.Fuzz(func(t *testing.T, which uint8, raw []byte) {
		k := cat.Kinds()[int(which)%len(cat.Kinds())]
		o, _, err := k.DecodeProtobuf(raw)
		if err != nil {
			if _, ok := err.(*DecodeError); !ok { //nolint:errorlint // never wrapped
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		once := o.AppendProtobuf(nil)
		if len(once) != o.ProtobufSize() {
			t.Fatalf("%d bytes, sized as %d", len(once), o.ProtobufSize())
		}
		back, _, err := k.DecodeProtobuf(once)
		if err != nil {
			t.Fatalf("%v: %q", err, once)
		}
		if !Equal(o.root, back.root) {
			t.Fatalf("got  %s\nfrom %s", back.AppendJSON(nil), o.AppendJSON(nil))
		}
		if twice := back.AppendProtobuf(nil); !bytes.Equal(once, twice) {
			t.Fatalf("first  %q\nsecond %q", once, twice)
		}
		k.ValidateCreate(o)
		if text := o.AppendJSON(nil); !utf8.Valid(text) {
			t.Fatalf("not UTF-8: %q", text)
		} else if fromJSON, _, err := k.Decode(text); err != nil || !Equal(fromJSON.root, o.root) {
			t.Fatalf("%v: %s", err, text)
		}
	})
}

// FuzzCutEnvelope checks that AppendEnvelope writes what CutEnvelope returned, and that CutEnvelope
// reads it back.
func FuzzCutEnvelope(f *testing.F) {
	f.Add(AppendEnvelope(nil, "v1", "Pod", []byte("raw")))
	f.Add([]byte(protobufMagic + "\x1a\x04gzip"))
	f.Add([]byte(protobufMagic + "\x0b\x0c\x12\x01x"))
	f.Fuzz(func(t *testing.T, body []byte) {
		apiVersion, kind, raw, err := CutEnvelope(body)
		if err != nil {
			return
		}
		again := AppendEnvelope(nil, apiVersion, kind, raw)
		if len(again) != EnvelopeSize(apiVersion, kind, len(raw)) {
			t.Fatalf("%d bytes, sized as %d", len(again), EnvelopeSize(apiVersion, kind, len(raw)))
		}
		v, k, r, err := CutEnvelope(again)
		if err != nil || v != apiVersion || k != kind || !bytes.Equal(r, raw) {
			t.Fatalf("%q %q %q %v", v, k, r, err)
		}
	})
}

// withProtobuf returns the kinds that have a protobuf form.
func withProtobuf(c *Catalog) []*Kind {
	return slices.DeleteFunc(slices.Clone(c.Kinds()), func(k *Kind) bool { return !k.HasProtobuf() })
}

// TestProtobufKeepsObjects_B20 converts random objects of all kinds to JSON and protobuf and back.
func TestProtobufKeepsObjects_B20(t *testing.T) {
	cat := engine(t)
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom(withProtobuf(cat)).Draw(t, "kind")
		drawn := &Object{Kind: k, root: drawMessage(t, k.Message, 0)}
		drawn.root.Make("kind").SetStr(k.Kind)
		drawn.root.Make("apiVersion").SetStr(k.APIVersion)
		text := drawn.AppendJSON(nil)
		o, problems, err := k.Decode(text)
		if err != nil || len(problems.List()) > 0 {
			t.Fatal(err, problems.List())
		}
		raw := o.AppendProtobuf(nil)
		back, _, err := k.DecodeProtobuf(raw)
		if err != nil {
			t.Fatal(err)
		}
		if !Equal(o.root, back.root) {
			t.Fatalf("got  %s\nwant %s", back.AppendJSON(nil), text)
		}
		if again := back.AppendProtobuf(nil); !bytes.Equal(again, raw) {
			t.Fatalf("got  %q\nwant %q", again, raw)
		}
	})
}

const drawDepth = 7

func drawMessage(t *rapid.T, m *Message, depth int) *Value {
	v := m.typ.New()
	for i, f := range m.fields {
		if depth < drawDepth && rapid.IntRange(0, 3).Draw(t, "set") == 0 {
			v.box.kids[i] = drawValue(t, f.Type, depth+1)
		}
	}
	return v
}

func drawValue(t *rapid.T, typ *Type, depth int) *Value {
	v := typ.New()
	switch typ.Form {
	case FormMessage:
		return drawMessage(t, typ.message, depth)
	case FormList:
		for range rapid.IntRange(0, 2).Draw(t, "items") {
			v.box.kids = append(v.box.kids, drawValue(t, typ.elem, depth))
		}
	case FormMap:
		for _, key := range rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "keys") {
			*v.Put(key) = *drawValue(t, typ.elem, depth)
		}
	case FormBool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case FormInt32:
		v.num = int64(rapid.Int32().Draw(t, "int32"))
	case FormInt64:
		v.num = rapid.Int64().Draw(t, "int64")
	case FormUint32:
		v.num = int64(rapid.Uint32().Draw(t, "uint32"))
	case FormDouble:
		v.SetFloat(rapid.Float64().Draw(t, "double"))
	case FormTime:
		v.num = rapid.Int64Range(firstSecond, lastSecond).Draw(t, "time")
	case FormMicroTime:
		v.num = rapid.Int64Range(firstSecond*1e6, lastSecond*1e6).Draw(t, "microTime")
	case FormQuantity:
		v.str = mustQuantityText(rapid.StringMatching(`[0-9]{1,9}(m|k|Ki|Mi|G)?`).Draw(t, "quantity"), typ.roundUp)
	case FormIntOrString:
		if rapid.Bool().Draw(t, "text") {
			v.SetStr(rapid.String().Draw(t, "string"))
		} else {
			v.SetInt(int64(rapid.Int32().Draw(t, "number")))
		}
	case FormRaw:
		texts := []string{`{"a":[1,null,"x"]}`, `7`, `"é"`, `{}`}
		if typ.tree != nil { // protobuf has a message for it, which is always an object
			texts = []string{`{"type":"object","properties":{"a":{"type":"string"}}}`, `{}`}
		}
		v.str = rapid.SampledFrom(texts).Draw(t, "raw")
	default:
		v.str = rapid.String().Draw(t, "string")
	}
	return v
}

func mustQuantityText(s string, roundUp bool) string {
	text, err := canonicalQuantity(s, roundUp)
	if err != nil {
		panic(err)
	}
	return text
}

// TestProtobufKeepsEmptyText_B20: an intOrString with an empty text is none with the number 0.
func TestProtobufKeepsEmptyText_B20(t *testing.T) {
	k := engine(t).Kind("/api/v1", "pods")
	text := `{"kind":"Pod","apiVersion":"v1","spec":{"containers":[{"livenessProbe":{"httpGet":{"port":""}}}]}}`
	o, _, err := k.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	back, _, err := k.DecodeProtobuf(o.AppendProtobuf(nil))
	if err != nil {
		t.Fatal(err)
	}
	if got := back.AppendJSON(nil); !bytes.Equal(got, o.AppendJSON(nil)) {
		t.Errorf("got  %s\nwant %s", got, o.AppendJSON(nil))
	}
}
