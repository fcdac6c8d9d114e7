package cluster

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
)

// The remembered addresses are bounded, the present ones come first, and what is remembered is on
// the disk.
func TestAddresses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	quiet := slog.New(slog.DiscardHandler)
	a := openAddresses(dir, "C", quiet)
	check := func(step string, want []string) {
		t.Helper()
		if got := a.list(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", step, got, want)
		}
		if got := openAddresses(dir, "C", quiet).list(); !slices.Equal(got, want) {
			t.Errorf("%s: on the disk there is %v, want %v", step, got, want)
		}
	}
	remember := func(known []string, complete bool) {
		t.Helper()
		if err := a.remember("C", known, complete); err != nil {
			t.Fatal(err)
		}
	}
	check("nothing yet", nil)
	remember([]string{"a:1", "b:1"}, true)
	check("two", []string{"a:1", "b:1"})
	remember([]string{"c:1"}, false)
	check("one of them is missing", []string{"a:1", "b:1", "c:1"})
	remember([]string{"c:1"}, true)
	check("the others have left", []string{"c:1"})
	var many []string
	for i := range maxAddresses {
		many = append(many, fmt.Sprintf("m%02d:1", i))
	}
	remember(many, false)
	check("as many as there may be", many)
	if err := a.remember("D", []string{"d:1"}, false); err != nil {
		t.Fatal(err)
	}
	if got := openAddresses(dir, "D", quiet).list(); !slices.Equal(got, []string{"d:1"}) {
		t.Errorf("of the next cluster there is %v", got)
	}
}
