package structural

import (
	"slices"
	"testing"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, `{"type":"object","required":["spec"],"properties":{"spec":{"type":"object","required":["name"],"properties":{
		"name":{"type":"string","minLength":2,"maxLength":4,"pattern":"^[a-z]+$"},
		"size":{"type":"integer","minimum":1,"maximum":10,"multipleOf":2},
		"mode":{"type":"string","enum":["a","b"]},
		"date":{"type":"string","format":"date"},
		"port":{"x-kubernetes-int-or-string":true},
		"set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"},"maxItems":3},
		"map":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],"properties":{
			"k":{"type":"string"},"v":{"type":"integer","maximum":5}}}},
		"one":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"oneOf":[{"required":["a"]},{"required":["b"]}]}
	}}}}`)
	for name, tc := range map[string]struct {
		old, in string
		want    []string
	}{
		"valid":     {"", `{"spec":{"name":"abc","size":4,"mode":"a","date":"2020-01-02","port":"x","set":["a"],"one":{"a":"1"}}}`, nil},
		"missing":   {"", `{}`, []string{`spec: Required value`}},
		"inner":     {"", `{"spec":{}}`, []string{`spec.name: Required value`}},
		"type":      {"", `{"spec":{"name":5}}`, []string{`spec.name: Invalid value: "integer": spec.name in body must be of type string: "integer"`}},
		"short":     {"", `{"spec":{"name":"a"}}`, []string{`spec.name: Invalid value: "a": spec.name in body should be at least 2 chars long`}},
		"long":      {"", `{"spec":{"name":"aaaaa"}}`, []string{`spec.name: Too long: may not be more than 4 bytes`}},
		"pattern":   {"", `{"spec":{"name":"A1"}}`, []string{`spec.name: Invalid value: "A1": spec.name in body should match '^[a-z]+$'`}},
		"range":     {"", `{"spec":{"name":"ab","size":13}}`, []string{`spec.size: Invalid value: 13: spec.size in body should be a multiple of 2`, `spec.size: Invalid value: 13: spec.size in body should be less than or equal to 10`}},
		"fraction":  {"", `{"spec":{"name":"ab","map":[{"k":"a","v":1.5}]}}`, []string{`<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.map[0].v`, `spec.map[0].v: Invalid value: "number": spec.map[0].v in body must be of type integer: "number"`}},
		"enum":      {"", `{"spec":{"name":"ab","mode":"c"}}`, []string{`spec.mode: Unsupported value: "c": supported values: "a", "b"`}},
		"format":    {"", `{"spec":{"name":"ab","date":"x"}}`, []string{`spec.date: Invalid value: "x": spec.date in body must be of type date: "x"`}},
		"port":      {"", `{"spec":{"name":"ab","port":true}}`, []string{`spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"`}},
		"set":       {"", `{"spec":{"name":"ab","set":["a","b","a","a"]}}`, []string{`spec.set: Too many: 4: must have at most 3 items`, `spec.set[2]: Duplicate value: "a"`}},
		"map":       {"", `{"spec":{"name":"ab","map":[{"k":"a"},{"k":"a"}]}}`, []string{`spec.map[1]: Duplicate value: {"k":"a"}`}},
		"junctor":   {"", `{"spec":{"name":"ab","one":{"a":"1","b":"2"}}}`, []string{`<nil>: Invalid value: "": "spec.one" must validate one and only one schema (oneOf). Found 2 valid alternatives`}},
		"unchanged": {`{"spec":{"name":"A","size":100,"map":[{"k":"a","v":9},{"k":"b","v":9}]}}`, `{"spec":{"name":"A","size":99,"map":[{"k":"b","v":9},{"k":"a","v":8}]}}`, []string{`spec.map[1].v: Invalid value: 8: spec.map[1].v in body should be less than or equal to 5`, `spec.size: Invalid value: 99: spec.size in body should be a multiple of 2`, `spec.size: Invalid value: 99: spec.size in body should be less than or equal to 10`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := problems(t, s, tc.in, tc.old); !slices.Equal(got, tc.want) {
				t.Errorf("got\n%q\nwant\n%q", got, tc.want)
			}
		})
	}
}

// problems returns the errors of an object, sorted.
func problems(t *testing.T, s *Schema, in, old string) []string {
	t.Helper()
	errs, err := s.ValidateCreate(t.Context(), []byte(in))
	if old != "" {
		errs, err = s.ValidateUpdate(t.Context(), []byte(in), []byte(old))
	}
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range errs {
		out = append(out, e.Error())
	}
	slices.Sort(out)
	return out
}

func TestRules(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, `{"type":"object","properties":{"spec":{"type":"object","x-kubernetes-validations":[
			{"rule":"self.low <= self.high","message":"low exceeds high","fieldPath":".low","reason":"FieldValueForbidden"},
			{"rule":"!has(oldSelf.name) || self.name == oldSelf.name","messageExpression":"'name is immutable: ' + oldSelf.name"}],
		"properties":{"low":{"type":"integer"},"high":{"type":"integer"},"name":{"type":"string","maxLength":10},
		"once":{"type":"string","x-kubernetes-validations":[{"rule":"!oldSelf.hasValue() || oldSelf.value() == self","optionalOldSelf":true}]},
		"items":{"type":"array","maxItems":5,"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],
			"properties":{"k":{"type":"string","maxLength":5},"v":{"type":"integer","x-kubernetes-validations":[{"rule":"self >= oldSelf","message":"may not shrink"}]}}}}
		}}}}`)
	for name, tc := range map[string]struct {
		old, in string
		want    []string
	}{
		"valid":      {"", `{"spec":{"low":1,"high":2}}`, nil},
		"rule":       {"", `{"spec":{"low":3,"high":2}}`, []string{`spec.low: Forbidden: low exceeds high`}},
		"transition": {`{"spec":{"low":1,"high":2,"name":"a"}}`, `{"spec":{"low":1,"high":2,"name":"b"}}`, []string{`spec: Invalid value: name is immutable: a`}},
		"unchanged":  {`{"spec":{"low":3,"high":2}}`, `{"spec":{"low":3,"high":2}}`, nil},
		"optional":   {`{"spec":{"low":1,"high":2,"once":"a"}}`, `{"spec":{"low":1,"high":2,"once":"b"}}`, []string{`spec.once: Invalid value: "b": failed rule: !oldSelf.hasValue() || oldSelf.value() == self`}},
		"item":       {`{"spec":{"low":1,"high":2,"items":[{"k":"a","v":3},{"k":"b","v":3}]}}`, `{"spec":{"low":1,"high":2,"items":[{"k":"b","v":2},{"k":"a","v":4}]}}`, []string{`spec.items[0].v: Invalid value: 2: may not shrink`}},
		"blocked":    {"", `{"spec":{"low":"x","high":2}}`, []string{`<nil>: Invalid value: null: ` + unevaluated, `spec.low: Invalid value: "string": spec.low in body must be of type integer: "string"`}},
		"runtime":    {"", `{"spec":{"low":1}}`, []string{`spec: Invalid value: "object": no such key: high evaluating rule: low exceeds high`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := problems(t, s, tc.in, tc.old); !slices.Equal(got, tc.want) {
				t.Errorf("got\n%q\nwant\n%q", got, tc.want)
			}
		})
	}
}
