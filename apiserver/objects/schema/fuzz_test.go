package schema

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
)

// FuzzDecode checks that the decoder accepts or rejects any body without panic, and that the stored
// form of an accepted body decodes to the same object.
func FuzzDecode(f *testing.F) {
	cat := engine(f)
	for i := range cat.Kinds() {
		for _, body := range []string{string(loadgenPod()), string(configMap1K()), `{"spec":{"template":{"spec":{"volumes":[{"emptyDir":{"sizeLimit":"1e3"}}]}}}}`,
			`{"metadata":{"creationTimestamp":"2018-01-02T03:04:05+07:00","labels":{"b":"","a":null}}}`, `{"containerImageMetadata":{ "a":"\u00e9"}}`} {
			f.Add(uint8(i), body)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, body string) {
		k := cat.Kinds()[int(which)%len(cat.Kinds())]
		var fields map[string]json.RawMessage
		if json.Unmarshal([]byte(body), &fields) == nil { // accept bodies of other kinds
			delete(fields, "kind")
			delete(fields, "apiVersion")
			if b, err := json.Marshal(fields); err == nil {
				body = string(b)
			}
		}
		o, _, err := k.Decode([]byte(body))
		if err != nil {
			return
		}
		k.ValidateCreate(o.Copy())
		once := o.Encode()
		if !json.Valid(once.Value) {
			t.Fatalf("not JSON: %s", once.Value)
		}
		back, err := k.DecodeStored(once.Value)
		if err != nil {
			t.Fatalf("%v: %s", err, once.Value)
		}
		if twice := back.Encode(); !bytes.Equal(twice.Value, once.Value) || twice.VersionOffset != once.VersionOffset {
			t.Fatalf("first  %s\nsecond %s", once.Value, twice.Value)
		}
		if !Equal(o.root, back.root) && o.ResourceVersion() == "" {
			t.Fatalf("not equal to what it was read from: %s", once.Value)
		}
		k.Default(back)
		first := back.AppendJSON(nil)
		k.Default(back)
		if second := back.AppendJSON(nil); !bytes.Equal(first, second) {
			t.Fatalf("defaults change what they set: %s\nthen %s", first, second)
		}
		text, err := ToYAML(once.Value)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := YAMLToJSON(text, 10*len(text)+1000); err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
	})
}

// FuzzScanner compares the scanner with encoding/json: which texts are valid, and the content of
// strings.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+7,"x\u12e9\n",true,false,null]}`, `"\ud83d\ude00"`, `"\ud83dx"`, "\"\xff\"", `01`, `-`, `1.`, `[1,]`, `{"a" 1}`, `{,}`,
		"\"\x01\"", `"\x"`, `nul`, ` [ ] `, `"\u12g4"`, `1e`, `tru`, `"`, `{"a":1,}`, "[\v1]", `"\ud800\u0041"`, `""""`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.Count(s, "[")+strings.Count(s, "{") >= maxDepth {
			return
		}
		d := scanner{s: s}
		err := d.skip(0)
		if err == nil && (d.space() != 0 || d.pos < len(d.s)) {
			err = d.syntax("after top-level value")
		}
		if (err == nil) != json.Valid([]byte(s)) {
			t.Fatalf("%q: %v, but encoding/json finds it valid: %v", s, err, json.Valid([]byte(s)))
		}
		if err != nil {
			return
		}
		if got := compact(strings.TrimSpace(s)); !json.Valid([]byte(got)) || compact(got) != got {
			t.Fatalf("%q: compact %q, again %q", s, got, compact(got))
		}
		var want string
		d = scanner{s: s}
		if d.space() != '"' || json.Unmarshal([]byte(s), &want) != nil {
			return
		}
		if got, err := d.str(); err != nil || got != want {
			t.Fatalf("%q: got %q, %v, want %q", s, got, err, want)
		}
	})
}

// FuzzYAML checks that the reader accepts or rejects any document without panic, and that JSON
// converted to YAML converts back to the same JSON.
func FuzzYAML(f *testing.F) {
	for _, s := range []string{"a: b\n", "- 1\n- x: |\n    a\n", "&a [*a]", "a: !!binary x", "? a\n: b", "<<: {a: 1}", "{\"a\":\"x\\ny\",\"b\":[[],{}]}", "\"\u0085\ufeff\"",
		`{"a":"- x","b":"# y","c":"x: y","d":" lead","e":"tail ","f":"|","g":"a\n\n","h":"\n","i":"a\n b","j":"a#b","k":"null","l":"~"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out, err := YAMLToJSON([]byte(s), 1<<16)
		if err == nil && len(out) > 0 && !json.Valid(out) {
			t.Fatalf("%q gives %s", s, out)
		}
		if strings.Count(s, "[")+strings.Count(s, "{") >= maxDepth/2 || !json.Valid([]byte(s)) || strings.TrimSpace(s) == "null" {
			return
		}
		var v any
		if json.Unmarshal([]byte(s), &v) != nil {
			return
		}
		if hasNumber(v) {
			return // 1.50 reads back as 1.5
		}
		text, err := ToYAML([]byte(s))
		if err != nil {
			t.Fatal(err)
		}
		back, err := YAMLToJSON(text, 1<<20)
		if err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		if want := compact(strings.TrimSpace(s)); string(back) != normal(want) && string(back) != want {
			t.Fatalf("%s\nwritten as\n%s\nreads %s", want, text, back)
		}
		if !sameYAML(text, []byte(s)) {
			t.Fatalf("another reader finds something else in\n%s", text)
		}
	})
}

// normal returns JSON text with its strings in canonical form.
func normal(s string) string {
	d := scanner{s: s}
	var out []byte
	for d.pos < len(d.s) {
		if d.s[d.pos] == '"' {
			text, err := d.str()
			if err != nil {
				return s
			}
			out = AppendString(out, text)
			continue
		}
		out = append(out, d.s[d.pos])
		d.pos++
	}
	return string(out)
}

func hasNumber(v any) bool {
	switch v := v.(type) {
	case float64:
		return true
	case []any:
		for _, item := range v {
			if hasNumber(item) {
				return true
			}
		}
	case map[string]any:
		for _, item := range v {
			if hasNumber(item) {
				return true
			}
		}
	}
	return false
}

// FuzzFormats checks that the library accepts each string that a format's ok accepts.
func FuzzFormats(f *testing.F) {
	for _, s := range []string{"a", "a-b", "a.b", "a..b", "a.-b", "A", "a_b", "x/y", "x.y/Z", "-", "a-", "..", "..a", ".a", "1", "a1", "1a", "a--b", strings.Repeat("a", 64), strings.Repeat("a", 254)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, tc := range map[string]struct {
			quick func(string) bool
			slow  func(string) []string
			exact bool
		}{
			"label":         {isDNSLabel, validation.IsDNS1123Label, true},
			"subdomain":     {isDNSSubdomain, validation.IsDNS1123Subdomain, true},
			"qualifiedName": {isQualifiedName, validation.IsQualifiedName, true},
			"labelValue":    {isLabelValue, validation.IsValidLabelValue, true},
			"configMapKey":  {isConfigMapKey, validation.IsConfigMapKey, true},
			"envVarName":    {isEnvVarName, validation.IsEnvVarName, false},
			"portName":      {isPortName, validation.IsValidPortName, false},
			"resourceName":  {isResourceName, explainResourceName, false},
			"relativePath":  {isPlainRelativePath, explainRelativePath, false},
			"pathSegment":   {isPathSegment, explainPathSegment, true},
		} {
			quick, slow := tc.quick(s), tc.slow(s)
			if quick && len(slow) > 0 || tc.exact && !quick && len(slow) == 0 {
				t.Errorf("%s: %q: %v, but %v", name, s, quick, slow)
			}
		}
	})
}
