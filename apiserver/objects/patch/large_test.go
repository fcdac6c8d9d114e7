package patch_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"quorate/apiserver/objects/patch"
)

// patience is the time limit for patches that take at most a second on a busy machine. Work that is
// quadratic in their size would take minutes.
const patience = 30 * time.Second

// list returns a JSON list of n items; item is the format of an item with its index.
func list(n int, item string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, item+",", i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

// TestLargePatches_F11 checks that patches of several MiB take time in proportion to the sizes of
// patch and document.
func TestLargePatches_F11(t *testing.T) {
	const n = 100_000
	containers, names, texts, members, nulls := list(n, `{"name":"c%d"}`), list(n, `{"name":"c%[1]d","image":"x"}`),
		list(n, `"x/%d"`), list(n, `"k%d":"v"`), list(n, `"k%d":null`)
	deep := strings.Repeat(`{"a":`, 150)
	for _, tc := range []struct {
		name, plural   string
		typ            patch.Type
		document, body string
	}{
		{"items merge by key", "pods", patch.Strategic, `{"spec":{"containers":[` + containers + `]}}`, `{"spec":{"containers":[` + names + `]}}`},
		{"items are new", "pods", patch.Strategic, `{}`, `{"spec":{"containers":[` + names + `]}}`},
		{"one key", "pods", patch.Strategic, `{"spec":{"containers":[` + containers + `]}}`,
			`{"spec":{"containers":[` + list(n, `{"name":"c7","image":"x%d"}`) + `]}}`},
		{"items go", "pods", patch.Strategic, `{"spec":{"containers":[` + containers + `]}}`,
			`{"spec":{"containers":[` + list(n, `{"name":"c%d","$patch":"delete"}`) + `]}}`},
		{"order", "pods", patch.Strategic, `{"spec":{"containers":[` + containers + `]}}`, `{"spec":{"$setElementOrder/containers":[` + containers + `]}}`},
		{"a set", "configmaps", patch.Strategic, `{"metadata":{"finalizers":[` + texts + `]}}`, `{"metadata":{"finalizers":[` + texts + `]}}`},
		{"out of a set", "configmaps", patch.Strategic, `{"metadata":{"finalizers":[` + texts + `]}}`,
			`{"metadata":{"$deleteFromPrimitiveList/finalizers":[` + texts + `]}}`},
		{"members", "configmaps", patch.Merge, `{"data":{` + members + `}}`, `{"data":{` + nulls + `}}`},
		{"members of a strategic merge", "configmaps", patch.Strategic, `{"data":{` + members + `}}`, `{"data":{` + nulls + `}}`},
		{"deep members", "configmaps", patch.Merge, `{"data":` + deep + `{` + members + `}` + strings.Repeat(`}`, 151),
			`{"data":` + deep + `{` + nulls + `}` + strings.Repeat(`}`, 151)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			if _, err := apply(kind(t, "/api/v1", tc.plural), tc.typ, tc.document, tc.body); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took > patience {
				t.Errorf("took %v", took)
			}
		})
	}
}
