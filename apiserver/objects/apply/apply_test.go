package apply_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/apply"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/validation"
	"quorate/apiserver/wire/status"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func kind(t testing.TB, prefix, plural string) *schema.Kind {
	t.Helper()
	c, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	return c.Kind(prefix, plural)
}

func configMap(t testing.TB) *schema.Kind { return kind(t, "/api/v1", "configmaps") }

var start = time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)

func parse(t testing.TB, text string) *apply.Config {
	t.Helper()
	c, err := apply.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func config(data string) string {
	return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":` + data + `}`
}

func decode(t testing.TB, k *schema.Kind, text string) *schema.Object {
	t.Helper()
	o, _, err := k.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestTimes: an entry's time is that of the last change of what its manager owns.
func TestTimes(t *testing.T) {
	t.Parallel()
	m := apply.New(configMap(t), "", schema.Update)
	var o *schema.Object
	for i, data := range []string{`{"k":"v"}`, `{"k":"v"}`, `{"k":"w"}`} {
		next, _, err := m.Apply(o, parse(t, config(data)), apply.Options{Manager: "m", Now: start.Add(time.Duration(i) * time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		if i == 1 && !schema.Equal(next.Root(), o.Root()) {
			t.Errorf("an apply of the same changed %s to %s", o.AppendJSON(nil), next.AppendJSON(nil))
		}
		o = next
	}
	if got := o.ManagedFields().At(0).Field("time").Time(); !got.Equal(start.Add(2 * time.Hour)) {
		t.Errorf("time %s", got)
	}
}

// TestSameButTimes compares lists of entries.
func TestSameButTimes(t *testing.T) {
	t.Parallel()
	k := configMap(t)
	entries := func(text string) *schema.Value {
		return decode(t, k, `{"metadata":{"managedFields":[`+text+`]}}`).ManagedFields()
	}
	const a, b = `{"manager":"a","time":"2024-01-01T00:00:00Z","fieldsV1":{"f:a":{}}}`, `{"manager":"b","fieldsV1":{}}`
	later := strings.Replace(a, "2024", "2025", 1)
	for _, tc := range []struct {
		name, x, y string
		want       bool
	}{
		{"none", "", "", false},
		{"the same", a, a, false},
		{"another time", a, later, true},
		{"no time", a, strings.Replace(a, `"time":"2024-01-01T00:00:00Z",`, "", 1), true},
		{"another order", a + "," + b, b + "," + later, true},
		{"another manager", a, strings.Replace(later, `"a"`, `"c"`, 1), false},
		{"other fields", a, strings.Replace(later, "f:a", "f:b", 1), false},
		{"one more", a, later + "," + b, false},
	} {
		if got := apply.SameButTimes(entries(tc.x), entries(tc.y)); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}

// TestMergedUpdatesAreNeverLost: however old the entry of merged updates is, its fields stay owned.
func TestMergedUpdatesAreNeverLost(t *testing.T) {
	t.Parallel()
	k := configMap(t)
	m := apply.New(k, "", schema.Update)
	o, _, err := m.Apply(nil, parse(t, config(`{"k":"v"}`)), apply.Options{Manager: "m", Now: start})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 { // all in one second, under names before and after ancient-changes
		text := strings.Replace(string(o.AppendJSON(nil)), `"data":{`, fmt.Sprintf(`"data":{"k%d":"v",`, i), 1)
		next := decode(t, k, text)
		if err := m.Update(o, next, fmt.Sprintf("%c%d", "az"[i%2], i), start); err != nil {
			t.Fatal(err)
		}
		o = next
	}
	if n := o.ManagedFields().Len(); n != 11 {
		t.Errorf("%d entries", n)
	}
	for i := range 40 {
		field := fmt.Sprintf(`"f:k%d":{}`, i)
		owners := 0
		for _, e := range o.ManagedFields().Items() {
			owners += strings.Count(e.Field("fieldsV1").Str(), field)
		}
		if owners != 1 {
			t.Errorf("%s has %d owners", field, owners)
		}
	}
}

// TestManyConflicts: an answer lists a bounded number of conflicts.
func TestManyConflicts(t *testing.T) {
	t.Parallel()
	m := apply.New(configMap(t), "", schema.Update)
	data := func(value string) string {
		var b strings.Builder
		for i := range 20_000 {
			fmt.Fprintf(&b, `,"%s%d":%q`, strings.Repeat("k", 40), i, value)
		}
		return "{" + b.String()[1:] + "}"
	}
	o, _, err := m.Apply(nil, parse(t, config(data("v"))), apply.Options{Manager: "m", Now: start})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = m.Apply(o, parse(t, config(data("w"))), apply.Options{Manager: "n", Now: start})
	failed, ok := errors.AsType[*status.Error](err)
	if !ok || failed.Status.Code != 409 || len(failed.Status.Details.Causes) != 1000 || len(failed.Status.Message) > 300<<10 ||
		!strings.HasPrefix(failed.Status.Message, "Apply failed with 20000 conflicts:") {
		t.Errorf("%v", ok)
	}
}

// FuzzApply: nothing that a client sends makes an apply panic, and what an apply has made can be
// applied to.
func FuzzApply(f *testing.F) {
	f.Add(config(`{"k":"v"}`), config(`{"k":"w","l":null}`), `[{"manager":"m","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:k":{}}}}]`)
	f.Add(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"finalizers":["a/b"],"ownerReferences":[{"uid":"u"}]}}`, config(`{}`),
		`[{"operation":"Update","apiVersion":"v2","fieldsType":"FieldsV1","fieldsV1":{"k:{\"a\":1}":{"v:1":{}},"i:0":{}}}]`)
	f.Add(config(`[]`), config(`1.5`), `[{}]`)
	k := configMap(f)
	m := apply.New(k, "", schema.Update)
	f.Fuzz(func(t *testing.T, stored, applied, entries string) {
		o, _, err := k.Decode([]byte(stored))
		if err != nil {
			return
		}
		if sent, _, err := k.Decode([]byte(`{"metadata":{"managedFields":` + entries + `}}`)); err == nil {
			o.KeepManagedFields(sent)
		}
		if err := m.Update(nil, o, "creator", start); err != nil {
			return
		}
		c, err := apply.Parse([]byte(applied))
		if err != nil {
			return
		}
		next, _, err := m.Apply(o, c, apply.Options{Manager: "m", Force: true, Now: start})
		if err != nil {
			return
		}
		again, _, err := m.Apply(next, c, apply.Options{Manager: "m", Now: start})
		if err != nil {
			t.Fatalf("applied again: %v", err)
		}
		if !schema.Equal(again.Root(), next.Root()) {
			t.Errorf("applied again:\n%s\n%s", next.AppendJSON(nil), again.AppendJSON(nil))
		}
	})
}
