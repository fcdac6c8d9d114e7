package patch_test

import (
	"slices"
	"strings"
	"testing"

	"quorate/apiserver/objects/patch"
	"quorate/apiserver/objects/schema"
)

func TestTypeOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, contentType string
		want              patch.Type
	}{
		{"F1 json", "application/json-patch+json", patch.JSON},
		{"F1 merge", "application/merge-patch+json", patch.Merge},
		{"F1 strategic", "application/strategic-merge-patch+json", patch.Strategic},
		{"F3 apply", "application/apply-patch+yaml", patch.Apply},
		{"F2 parameters", "application/merge-patch+json; charset=utf-8", patch.Merge},
		{"F2 malformed parameters", "Application/Merge-Patch+json;=;", patch.Merge},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got, err := patch.TypeOf(tc.contentType); err != nil || got != tc.want {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
	for _, contentType := range []string{"", "application/json", "*/*", "application/apply-patch+cbor", ";"} {
		t.Run("F2 "+contentType, func(t *testing.T) {
			t.Parallel()
			_, err := patch.TypeOf(contentType)
			failed := requireCode(t, 415, err)
			if want := "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, " +
				"application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml"; failed.Status.Message != want {
				t.Error(failed.Status.Message)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	operations := func(n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(`{"op":"test","path":""},`, n), ",") + "]"
	}
	if _, err := patch.Parse(patch.JSON, []byte(operations(10_000))); err != nil {
		t.Errorf("F11: %v", err)
	}
	for _, tc := range []struct {
		name string
		kind patch.Type
		body string
		code int
	}{
		{"F7 object", patch.JSON, `{}`, 400},
		{"F7 null", patch.JSON, `null`, 400},
		{"F7 empty", patch.JSON, ``, 400},
		{"F7 malformed", patch.JSON, `[{"op":"remove","path":"/a"}`, 400},
		{"F7 operation", patch.JSON, `[3]`, 400},
		{"F7 unknown op", patch.JSON, `[{"op":"merge","path":"/a"}]`, 400},
		{"F7 no op", patch.JSON, `[{"path":"/a"}]`, 400},
		{"F7 no path", patch.JSON, `[{"op":"remove"}]`, 400},
		{"F7 path of another type", patch.JSON, `[{"op":"remove","path":1}]`, 400},
		{"F7 no value", patch.JSON, `[{"op":"add","path":"/a"}]`, 400},
		{"F7 no from", patch.JSON, `[{"op":"copy","path":"/a"}]`, 400},
		{"F11", patch.JSON, operations(10_001), 413},
		{"F13 merge array", patch.Merge, `[]`, 400},
		{"F13 merge null", patch.Merge, `null`, 400},
		{"F13 merge malformed", patch.Merge, `{"a":}`, 400},
		{"F13 merge two", patch.Merge, `{} {}`, 400},
		{"F13 strategic string", patch.Strategic, `"x"`, 400},
		{"F13 strategic number", patch.Strategic, `7`, 400},
		{"depth", patch.Merge, strings.Repeat(`{"a":`, 202) + "1" + strings.Repeat("}", 202), 400},
		{"depth of arrays", patch.Merge, `{"a":` + strings.Repeat(`[`, 9000) + strings.Repeat("]", 9000) + `}`, 400},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := patch.Parse(tc.kind, []byte(tc.body))
			requireCode(t, tc.code, err)
		})
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	many := strings.TrimSuffix(strings.Repeat(`"k":1,`, 150), ",")
	for _, tc := range []struct {
		name, body string
		kind       patch.Type
		want       []string
	}{
		{"F37 none", `{"a":{"b":1},"c":{"b":1}}`, patch.Merge, nil},
		{"F37 top", `{"spec":1,"a":2,"spec":3}`, patch.Merge, []string{`duplicate field "spec"`}},
		{"F37 escaped", `{"a":1,"\u0061":2}`, patch.Strategic, []string{`duplicate field "a"`}},
		{"F37 in arrays", `{"l":[{},[{"m":{"b":1,"b":2}}]]}`, patch.Strategic, []string{`duplicate field "l[1][0].m.b"`}},
		{"F37 operations", `[{"op":"remove","path":"/a","path":"/b"}]`, patch.JSON, []string{`duplicate field "[0].path"`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p, err := patch.Parse(tc.kind, []byte(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(p.Problems(), tc.want) {
				t.Errorf("%q", p.Problems())
			}
		})
	}
	p, err := patch.Parse(patch.Merge, []byte("{"+many+"}"))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Problems(); len(got) != 101 || got[100] != "49 more duplicate fields" {
		t.Errorf("%d problems, the last %q", len(got), got[len(got)-1])
	}
	long := strings.Repeat("ü", 1000)
	if p, err = patch.Parse(patch.Merge, []byte(`{"`+long+`":{"x":1,"x":2}}`)); err != nil {
		t.Fatal(err)
	}
	if got := p.Problems(); len(got) != 1 || len(got[0]) > 600 || !strings.HasSuffix(got[0], `..."`) {
		t.Errorf("%q", got)
	}
}

func TestSchemalessKindsTakeNoStrategicPatch_F25(t *testing.T) {
	t.Parallel()
	c, err := catalog()
	if err != nil {
		t.Fatal(err)
	}
	made, err := c.Schemaless(schema.Definition{
		Kind: "CronTab", Group: "stable.example.com", Plural: "crontabs", Singular: "crontab", Versions: []string{"v1"},
		Resource: "stable.example.com/crontabs",
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = apply(made[0], patch.Strategic, `{}`, `{"a":1}`)
	failed := requireCode(t, 415, err)
	if message := failed.Status.Message; !strings.HasSuffix(message, "json-patch+json, application/merge-patch+json, application/apply-patch+yaml") {
		t.Error(message)
	}
	got, err := apply(made[0], patch.Merge, `{"spec":{"big":123456789012345678901234567890}}`, `{"spec":{"a":[null]}}`)
	if want := `{"spec":{"big":123456789012345678901234567890,"a":[null]}}`; err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
}
