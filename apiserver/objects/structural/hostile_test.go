package structural

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/objects/expression"
)

// numbered returns n texts, joined by commas.
func numbered(n int, format string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(parts, ",")
}

// repeat returns n equal texts, joined by commas.
func repeat(n int, text string) string { return strings.TrimSuffix(strings.Repeat(text+",", n), ",") }

// allocated returns how many bytes fn allocates.
func allocated(fn func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// errorBytes returns the memory of the fields and texts of errors.
func errorBytes(errs field.ErrorList) int {
	total := 0
	for _, err := range errs {
		total += len(err.Field) + len(err.Detail)
	}
	return total
}

// Objects as large as a body can be, each of whose parts is wrong, take memory for as many errors
// as an answer lists, and time in proportion to their size.
func TestHostileObjects(t *testing.T) {
	const item = `{"type":"object","properties":{"l":{"type":"array","maxItems":1000000,"items":`
	long := strings.Repeat("n", 400_000)
	for name, tc := range map[string]struct{ schema, object, want string }{
		"wrong type":  {item + `{"type":"string"}}}}`, `{"l":[` + repeat(400_000, "1") + `]}`, "further errors"},
		"no rule":     {item + `{"type":"integer","x-kubernetes-validations":[{"rule":"self > 1"}]}}}}`, `{"l":[` + repeat(5_000, "1") + `]}`, "further errors"},
		"duplicates":  {strings.Replace(item, `"maxItems"`, `"x-kubernetes-list-type":"set","maxItems"`, 1) + `{"type":"string"}}}}`, `{"l":[` + numbered(50_000, `"%d"`) + `,` + numbered(50_000, `"%d"`) + `]}`, "further errors"},
		"enum":        {item + `{"type":"string","enum":[` + numbered(50_000, `"%d"`) + `]}}}}`, `{"l":[` + repeat(200_000, `"x"`) + `]}`, "steps to validate"},
		"junctors":    {item + `{"type":"integer","anyOf":[` + repeat(20_000, `{"minimum":5}`) + `]}}}}`, `{"l":[` + repeat(200_000, `1`) + `]}`, "steps to validate"},
		"pattern":     {item + `{"type":"string","pattern":"^(a?){900}a{900}$"}}}}`, `{"l":[` + repeat(500, `"`+strings.Repeat("a", 1799)+`"`) + `]}`, "steps to validate"},
		"long name":   {`{"type":"object","properties":{"` + long + `":{"type":"array","items":{"type":"string"}}}}`, `{"` + long + `":[` + repeat(200_000, "1") + `]}`, "further errors"},
		"embedded":    {item + `{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}}}`, `{"l":[` + repeat(20_000, `{"metadata":{"name":"/"}}`) + `]}`, "further errors"},
		"many errors": {item + `{"type":"object","required":[` + numbered(200, `"%d"`) + `]}}}}`, `{"l":[` + repeat(50_000, `{}`) + `]}`, "further errors"},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustCompile(t, strings.Replace(tc.schema, `"maxItems":1000000,`, map[bool]string{true: `"maxItems":10000,`, false: ``}[name == "no rule"], 1))
			var errs field.ErrorList
			took := allocated(func() {
				var err error
				if errs, err = s.ValidateCreate(t.Context(), []byte(tc.object)); err != nil {
					t.Fatal(err)
				}
			})
			plain := allocated(func() {
				if _, err := parse(tc.object); err != nil {
					t.Fatal(err)
				}
			})
			last := errs[len(errs)-1]
			if len(errs) > 2*(maxErrors+1) || errorBytes(errs) > 4*maxErrorBytes {
				t.Errorf("%d errors of %d bytes", len(errs), errorBytes(errs))
			}
			found := strings.Contains(last.Error(), tc.want)
			for _, err := range errs {
				found = found || strings.Contains(err.Error(), tc.want)
			}
			if !found {
				t.Errorf("%d errors without %q; the last is %.200s", len(errs), tc.want, last)
			}
			t.Logf("%d errors, %d bytes; allocated %d MiB beside %d MiB for the object", len(errs), errorBytes(errs), took>>20, plain>>20)
			if extra := took - 2*plain; extra > 256<<20 {
				t.Errorf("took %d MiB", extra>>20)
			}
		})
	}
}

// What is dropped is listed up to a bound, and counted beyond it.
func TestHostileUnknownFields(t *testing.T) {
	s := mustCompile(t, `{"type":"object","properties":{"l":{"type":"object"}}}`)
	n, err := s.Normalize(nil, []byte(`{"l":{`+numbered(50_000, `"f%d":0`)+`}}`))
	if err != nil || len(n.Dropped) != maxDropped || n.More != 50_000-maxDropped || string(n.Object) != `{"l":{}}` {
		t.Errorf("%d, %d more, %.100s, %v", len(n.Dropped), n.More, n.Object, err)
	}
}

// Schemas as large as a definition can have are refused with as many errors as an answer lists, and
// before they take much time.
func TestHostileSchemas(t *testing.T) {
	for name, tc := range map[string]struct{ schema, want string }{
		"no types":     {`{"type":"object","properties":{` + numbered(80_000, `"p%d":{}`) + `}}`, "further errors"},
		"rules":        {`{"type":"object","properties":{` + numbered(15_000, `"p%d":{"type":"string","x-kubernetes-validations":[{"rule":"true"}]}`) + `}}`, "a schema can have at most 1000 rules"},
		"wrong rules":  {`{"type":"object","properties":{` + numbered(900, `"p%d":{"type":"string","x-kubernetes-validations":[{"rule":"x"}]}`) + `}}`, "undeclared reference"},
		"large regexp": {`{"type":"object","properties":{"a":{"type":"string","pattern":"^(` + strings.Repeat("a", 30) + `){1000}$"}}}`, "instructions to match"},
		"regexps":      {`{"type":"object","properties":{` + numbered(15_000, `"p%[1]d":{"type":"string","pattern":"a{900}%[1]d"}`) + `}}`, "together with the other patterns"},
		"nested":       {`{"type":"object","not":{"properties":{` + numbered(30_000, `"p%d":{}`) + `}}}`, "further errors"},
		"unknown":      {`{"type":"object",` + numbered(80_000, `"k%d":1`) + `}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, report, err := Compile(t.Context(), []byte(tc.schema), Options{Path: field.NewPath("s")})
			if err != nil {
				t.Fatal(err)
			}
			if n := len(report.Errors); n > 3*(maxErrors+1) || errorBytes(report.Errors) > 3*maxErrorBytes || len(report.Unknown) > maxErrors {
				t.Errorf("%d errors of %d bytes, %d unknown", n, errorBytes(report.Errors), len(report.Unknown))
			}
			found := tc.want == "" && len(report.Errors) == 0
			for _, err := range report.Errors {
				found = found || tc.want != "" && strings.Contains(err.Error(), tc.want)
			}
			if !found {
				t.Errorf("%d errors without %q", len(report.Errors), tc.want)
			}
		})
	}
}

// Programs beyond the bound are dropped, the least recently used first, and compiled again when
// they are needed.
func TestProgramsAreBounded(t *testing.T) {
	const limit = 1 << 20
	programs := expression.NewPrograms(limit)
	compile := func(i int) *Schema {
		s, report, err := Compile(t.Context(), fmt.Appendf(nil, `{"type":"object","properties":{"a":{"type":"integer","x-kubernetes-validations":[{"rule":"self > %d"}]},
			"b":{"type":"string","pattern":"^%[1]d"}}}`, i), Options{Programs: programs})
		if err != nil || len(report.Errors) > 0 {
			t.Fatal(err, report)
		}
		return s
	}
	check := func(s *Schema, i int) {
		for _, tc := range []struct {
			object string
			errs   int
		}{{fmt.Sprintf(`{"a":%d,"b":"%d"}`, i+1, i), 0}, {fmt.Sprintf(`{"a":%d,"b":"x"}`, i), 2}} {
			if errs, err := s.ValidateCreate(t.Context(), []byte(tc.object)); err != nil || len(errs) != tc.errs {
				t.Fatalf("%s: %v, %v", tc.object, errs, err)
			}
		}
	}
	used, schemas := compile(0), []*Schema{}
	rulesOf := func(s *Schema) *rules { return s.root.property("a").rules }
	for i := range 200 {
		schemas = append(schemas, compile(i+1))
		check(schemas[i], i+1)
		check(used, 0)
		if n := programs.Bytes(); n > limit {
			t.Fatalf("%d bytes are kept", n)
		}
	}
	first := rulesOf(schemas[0])
	if programs.Dropped() == 0 || first.programs.Load() != nil {
		t.Errorf("%d dropped, and the oldest kept: %v", programs.Dropped(), first.programs.Load() != nil)
	}
	if rulesOf(used).programs.Load() == nil {
		t.Error("the programs that are used all the time were dropped")
	}
	check(schemas[0], 1)
	if first.programs.Load() == nil {
		t.Error("the programs that were compiled again are not kept")
	}
}

// The estimate of a program's memory is not far below what it takes.
func TestProgramBytes(t *testing.T) {
	for name, rule := range map[string]string{
		"short": `self.a > 1`,
		"long":  repeatRule(30),
	} {
		var estimate int64
		real := heldBy(16, func() any {
			s := mustCompile(t, `{"type":"object","properties":{"a":{"type":"integer"}},"x-kubernetes-validations":[{"rule":"`+rule+`"}]}`)
			s.programs = expression.NewPrograms(DefaultProgramBytes)
			s.buildAll(t)
			estimate = s.programs.Bytes()
			return s
		}) - heldBy(16, func() any {
			return mustCompile(t, `{"type":"object","properties":{"a":{"type":"integer"}},"x-kubernetes-validations":[{"rule":"`+rule+`"}]}`)
		})
		t.Logf("%s rule of %d bytes: estimated %d, takes %d", name, len(rule), estimate, real)
		if int(estimate) < real*2/3 {
			t.Errorf("%s rule: estimated %d, takes %d", name, estimate, real)
		}
	}
}

func repeatRule(n int) string {
	return strings.TrimSuffix(strings.Repeat("(self.a > 1 || self.a % 7 == 3) && ", n), " && ")
}
