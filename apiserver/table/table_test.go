package table_test

import (
	"testing"

	"quorate/apiserver/kinds"
	"quorate/apiserver/rules"
	"quorate/apiserver/schema"
	"quorate/apiserver/table"
)

func catalog(t testing.TB) *schema.Catalog {
	t.Helper()
	c, err := schema.Load(kinds.Files, rules.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestX(t *testing.T) {
	for _, k := range catalog(t).Kinds() {
		if _, err := table.New(k); err != nil {
			t.Error(err)
		}
	}
}
