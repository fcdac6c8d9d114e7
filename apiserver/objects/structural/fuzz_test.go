package structural

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// The parser accepts the texts that encoding/json accepts, and reads the same values.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+7,"x\u12e9\n",true,false,null]}`, `"\ud83d\ude00"`, `"\ud83dx"`, "\"\xff\"", `01`, `-`, `1.`, `[1,]`, `{"a" 1}`,
		`{,}`, "\"\x01\"", `"\x"`, `nul`, ` [ ] `, `"\u12g4"`, `1e`, `tru`, `"`, `{"b":1,"a":2,"b":3}`, `"\ud800\u0041"`, `"\u+123"`, `""""`, `"\u2028"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.Count(s, "[")+strings.Count(s, "{") >= maxDepth {
			return
		}
		v, err := parse(s)
		if valid := json.Valid([]byte(s)); valid != (err == nil) {
			t.Fatalf("%q: valid %v, but %v", s, valid, err)
		}
		if err != nil {
			return
		}
		var want, got any
		if json.Unmarshal([]byte(s), &want) != nil {
			return // a number out of range
		}
		out := v.appendTo(nil)
		if err := json.Unmarshal(out, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q gives %s: %v", s, out, err)
		}
	})
}

// What Normalize returns is normal: doing it again changes nothing and drops nothing, and the
// result is validated without a panic, as a new object and as a change of itself.
func FuzzNormalize(f *testing.F) {
	schemas := []string{
		`{"type":"object","properties":{"spec":{"type":"object","default":{"n":3},"properties":{"a":{"type":"string","default":"x"},"n":{"type":"integer","minimum":1},
			"l":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"},"d":{"type":"object","default":{},"properties":{"e":{"type":"number","default":2.5}}}}}},
			"m":{"type":"object","additionalProperties":{"type":"object","nullable":true,"x-kubernetes-preserve-unknown-fields":true}},"i":{"x-kubernetes-int-or-string":true},
			"s":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string","format":"ipv4"}}},"oneOf":[{"required":["a"]},{"properties":{"n":{"multipleOf":3}}}],
			"x-kubernetes-validations":[{"rule":"!has(self.n) || self.n > 0 || self == oldSelf"}]}}}`,
		`{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"r":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true},"o":{"type":"object","additionalProperties":true}}}`,
		`{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"o":{"type":"object","additionalProperties":true},"p":{"type":"array","items":{"type":"object","nullable":true,
			"x-kubernetes-preserve-unknown-fields":true,"properties":{"q":{"type":"string","default":"d"},"n":{"type":"string","nullable":true}}}},"metadata":{"type":"object","properties":{"name":{"type":"string"}}}}}`,
	}
	var compiled []*Schema
	for i, raw := range schemas {
		compiled = append(compiled, mustCompile(f, raw))
		for _, in := range []string{`{}`, `{"spec":{"l":[{"k":"a"},null,{"d":null}],"m":{"x":{"y":1},"z":null},"i":"1","s":["1.2.3.4","1.2.3.4"],"q":1}}`,
			`{"r":{"kind":"A","apiVersion":"v1","metadata":{"name":"n","labels":{"a":"b"},"x":1},"z":[{"a":1}]},"o":{"a":{"b":1}},"any":[1,{"b":null}]}`, `{"metadata":{"name":null,"x":{"y":1}},"o":{"a":{"b":1},"c":{},"d":[{}]},"p":[null,{"q":"\\\"","z":{"a":[1,"]"]},"n":null}]}`, `[]`, `5`, `null`, `{"spec":5}`, `{"":{"":""}}`} {
			f.Add(uint8(i), in)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, in string) {
		s := compiled[int(which)%len(compiled)]
		first, err := s.Normalize(nil, []byte(in))
		if err != nil {
			return
		}
		again, err := s.Normalize(nil, first.Object)
		if err != nil {
			t.Fatalf("%s: %v", first.Object, err)
		}
		if string(again.Object) != string(first.Object) || len(again.Dropped) > 0 {
			t.Fatalf("%q gives %s, then %s, dropping %q", in, first.Object, again.Object, again.Dropped)
		}
		if v, err := parse(in); err == nil {
			canonical := v.appendTo(nil)
			if same := string(canonical) == string(first.Object); !s.root.resources && s.Conforms(canonical) != same {
				t.Fatalf("%s is normal: %v, and conforms: %v", canonical, same, !same)
			}
		}
		if _, err := s.ValidateCreate(t.Context(), first.Object); err != nil {
			t.Fatal(err)
		}
		if _, err := s.ValidateUpdate(t.Context(), first.Object, first.Object); err != nil {
			t.Fatal(err)
		}
	})
}

// Compile returns a schema or says what is wrong, for any text.
func FuzzCompile(f *testing.F) {
	for _, raw := range operators(f) {
		if len(raw) < 30_000 {
			f.Add(raw)
		}
	}
	f.Add(`{"type":"object","properties":{"a":{"type":"array","items":[{}]},"b":{"$ref":"x"},"c":{"x-kubernetes-validations":[{"rule":"self.d","fieldPath":".['d']"}]}}}`)
	f.Fuzz(func(t *testing.T, raw string) {
		s, report, err := Compile(t.Context(), []byte(raw), Options{})
		if (s != nil) != (err == nil && len(report.Errors) == 0) {
			t.Fatalf("%v, %v, %v", s, report, err)
		}
	})
}
