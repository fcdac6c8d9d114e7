package structural

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// What the package cannot enforce is refused, with a cause that names the keyword.
func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	const list = `{"type":"object","properties":{"l":{"type":"array","items":{"type":"string"}`
	for name, tc := range map[string]struct{ raw, want string }{
		"no type":          {`{"type":"object","properties":{"a":{}}}`, `schema.properties[a].type: Required value: must not be empty for specified object fields`},
		"reference":        {`{"type":"object","properties":{"a":{"$ref":"#/b"}}}`, `schema.properties[a].$ref: Forbidden: $ref is not supported`},
		"unique items":     {list + `,"uniqueItems":true}}}`, `schema.properties[l].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`},
		"nested type":      {`{"type":"object","anyOf":[{"type":"object"}]}`, `schema.anyOf[0].type: Forbidden: must be empty to be structural`},
		"metadata":         {`{"type":"object","properties":{"metadata":{"type":"object","required":["name"]}}}`, `schema.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`},
		"default":          {`{"type":"object","properties":{"a":{"type":"string","default":5}}}`, `schema.properties[a].default: Invalid value: "integer":  in body must be of type string: "integer"`},
		"unknown in it":    {`{"type":"object","properties":{"a":{"type":"object","default":{"b":1}}}}`, `schema.properties[a].default: Invalid value: {"b":1}: must not have unknown fields`},
		"pattern":          {`{"type":"object","properties":{"a":{"type":"string","pattern":"("}}}`, `schema.properties[a].pattern: Invalid value: "(": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): ` + "`(`"},
		"expensive rule":   {list + `,"x-kubernetes-validations":[{"rule":"self.all(x, self.all(y, x == y))"}]}}}`, `schema.properties[l].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x`},
		"unknown function": {list + `,"x-kubernetes-validations":[{"rule":"sha256(self)"}]}}}`, `compilation failed: ERROR: <input>:1:7: undeclared reference to 'sha256'`},
		"uncorrelatable":   {list + `}}}`, ``},
		"oldSelf in list":  {strings.Replace(list, `"type":"string"`, `"type":"string","maxLength":5,"x-kubernetes-validations":[{"rule":"self == oldSelf"}]`, 1) + `,"maxItems":5}}}`, `oldSelf cannot be used on the uncorrelatable portion of the schema within schema.properties[l]`},
		"several errors":   {`{"type":"string","nullable":true}`, `schema.nullable: Forbidden: nullable cannot be true at the root`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, report, err := Compile(t.Context(), []byte(tc.raw), Options{Path: field.NewPath("schema")})
			if err != nil {
				t.Fatal(err)
			}
			if (s == nil) != (tc.want != "") || s == nil && !slices.ContainsFunc(report.Errors, func(e *field.Error) bool { return strings.Contains(e.Error(), tc.want) }) {
				t.Errorf("got %v, not %s", report.Errors, tc.want)
			}
		})
	}
}

func TestCompileReportsUnknownKeywords(t *testing.T) {
	t.Parallel()
	_, report, err := Compile(t.Context(), []byte(`{"type":"object","const":1,"properties":{"a":{"type":"string","x-kubernetes-validations":[{"rule":"true","when":"x"}]}}}`), Options{Path: field.NewPath("s")})
	if want := []string{"s.const", "s.properties[a].x-kubernetes-validations[0].when"}; err != nil || !slices.Equal(report.Unknown, want) {
		t.Errorf("%v, %v", report, err)
	}
	var wrong *TypeError
	if _, _, err := Compile(t.Context(), []byte(`{"type":["string"]}`), Options{Path: field.NewPath("s")}); !errors.As(err, &wrong) || wrong.Path != "s.type" {
		t.Errorf("%v", err)
	}
}

// Rules share a budget for each object, and none is evaluated once it is used up.
func TestBudget(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, `{"type":"object","properties":{"a":{"type":"array","maxItems":9,"items":{"type":"integer"},"x-kubernetes-validations":[
		{"rule":"self.all(x, x > 0)","message":"one"},{"rule":"self.all(x, x > 1)","message":"two"}]},
		"b":{"type":"integer","x-kubernetes-validations":[{"rule":"self > 100"}]}}}`)
	v, err := parse(`{"a":[0,0,0],"b":1}`)
	if err != nil {
		t.Fatal(err)
	}
	full := evaluator{ctx: t.Context(), programs: s.programs, budget: 1000}
	full.run(s.root, subject{v: &v, root: true}, nil)
	half := (1000 - full.budget) / 2 // The first rule costs less than both others.
	const exhausted = `a: Invalid value: "array": validation failed due to running out of cost budget, no further validation rules will be run`
	for budget, want := range map[int64][]string{
		1: {exhausted}, half: {`a: Invalid value: one`, exhausted},
		1000: {`a: Invalid value: one`, `a: Invalid value: two`, `b: Invalid value: 1: failed rule: self > 100`},
	} {
		e := evaluator{ctx: t.Context(), programs: s.programs, budget: budget}
		e.run(s.root, subject{v: &v, root: true}, nil)
		var got []string
		for _, err := range e.errs {
			got = append(got, err.Error())
		}
		if !slices.Equal(got, want) {
			t.Errorf("budget %d: %q", budget, got)
		}
	}
}

// The first objects of a kind may come at the same time.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, `{"type":"object","properties":{"a":{"type":"string","pattern":"^x","x-kubernetes-validations":[{"rule":"self.size() < 3"}]}}}`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			n, err := s.Normalize(nil, []byte(`{"a":"xyz","b":1}`))
			if err != nil {
				t.Error(err)
				return
			}
			if errs, err := s.ValidateCreate(context.Background(), n.Object); err != nil || len(errs) != 1 {
				t.Errorf("%v, %v", errs, err)
			}
		})
	}
	wg.Wait()
}
