package selector_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"quorate/apiserver/objects/selector"
)

func parse(t testing.TB, labels, fields string) *selector.Selector {
	t.Helper()
	s, err := selector.Parse(labels, fields, pods())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func free(int64) (func(), error) { return func() {}, nil }

// TestEqualSelectorsShare: selectors with the same terms share one value, in whatever order and
// however often the terms were written.
func TestEqualSelectorsShare(t *testing.T) {
	t.Parallel()
	table := selector.NewInterner()
	hold := func(s *selector.Selector) *selector.Selector {
		shared, _, err := table.Hold(s, free)
		if err != nil {
			t.Fatal(err)
		}
		return shared
	}
	base := hold(parse(t, "a=b,!c,d in (x,y)", "spec.nodeName=n"))
	for _, same := range [][2]string{
		{"!c,a=b,d in (y,x)", "spec.nodeName=n"},
		{"a==b,a=b,a=b,!c,d in (x,y,x)", "spec.nodeName=n,spec.nodeName==n"},
		{"a in (b),!c,d in (x,y)", "spec.host=n"}, // an alias of the field
	} {
		if hold(parse(t, same[0], same[1])) != base {
			t.Errorf("%q has a value of its own", same)
		}
	}
	for _, other := range [][2]string{
		{"a=b,!c,d in (x,y)", ""}, {"a=b,c,d in (x,y)", "spec.nodeName=n"}, {"a=b,!c,d in (x)", "spec.nodeName=n"},
		{"a=b,!c,d notin (x,y)", "spec.nodeName=n"}, {"a=b,!c,d in (x,y)", "spec.nodeName!=n"},
		{"a=b,!c,d in (x,y)", "spec.nodeName=n,metadata.name=n"}, {"a=b,!c,d in (x,y)", "spec.nodeName=n,metadata.namespace=n"},
		{"ab=,!c,d in (x,y)", "spec.nodeName=n"}, {"a=b,!c,d in (xy)", "spec.nodeName=n"},
	} {
		if hold(parse(t, other[0], other[1])) == base {
			t.Errorf("%q shares the value of another selector", other)
		}
	}
	if hold(selector.WithHidden(parse(t, "a=b,!c,d in (x,y)", "spec.nodeName=n"))) == base {
		t.Error("a selector that matches hidden objects shares the value of one that doesn't")
	}
	if hold(parse(t, "a>1", "")) == hold(parse(t, "a>2", "")) {
		t.Error("selectors with different numbers share a value")
	}
	if hold(nil) != nil {
		t.Error("no selector has become one")
	}
}

// TestTableFollowsTheModel: the table has the selectors that are held, charges each once, and keeps
// no charge of one that was refused or dropped.
func TestTableFollowsTheModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const room = 3 // selectors
		table := selector.NewInterner()
		charged := 0
		take := func(bytes int64) (func(), error) {
			if bytes <= 0 {
				t.Fatalf("%d bytes are charged", bytes)
			}
			if charged == room {
				return nil, errors.New("full")
			}
			charged++
			return func() { charged-- }, nil
		}
		type hold struct {
			text string
			drop func()
		}
		var holds []hold
		model := make(map[string]int)
		values := make(map[string]*selector.Selector)
		t.Repeat(map[string]func(*rapid.T){
			"hold": func(t *rapid.T) {
				text := fmt.Sprint("a=", rapid.IntRange(0, 4).Draw(t, "value"))
				parsed, err := selector.Parse(text, "", pods())
				if err != nil {
					t.Fatal(err)
				}
				shared, drop, err := table.Hold(parsed, take)
				if refused := model[text] == 0 && len(model) == room; refused != (err != nil) {
					t.Fatalf("%s: error %v, want one: %v", text, err, refused)
				}
				if err != nil {
					return
				}
				if model[text] > 0 && values[text] != shared {
					t.Fatalf("%s has two values", text)
				}
				values[text] = shared
				model[text]++
				holds = append(holds, hold{text, drop})
			},
			"drop": func(t *rapid.T) {
				if len(holds) == 0 {
					t.Skip()
				}
				i := rapid.IntRange(0, len(holds)-1).Draw(t, "which")
				h := holds[i]
				holds = append(holds[:i], holds[i+1:]...)
				h.drop()
				if model[h.text]--; model[h.text] == 0 {
					delete(model, h.text)
				}
			},
			"": func(t *rapid.T) {
				if charged != len(model) || table.Len() != len(model) {
					t.Fatalf("%d charged, %d in the table, want %d", charged, table.Len(), len(model))
				}
			},
		})
	})
}

// TestTableAtOnce: watches that begin and end at the same moment leave nothing behind.
func TestTableAtOnce(t *testing.T) {
	t.Parallel()
	table := selector.NewInterner()
	var charged atomic.Int64
	take := func(bytes int64) (func(), error) {
		charged.Add(bytes)
		return func() { charged.Add(-bytes) }, nil
	}
	var watches sync.WaitGroup
	for i := range 8 {
		watches.Go(func() {
			for range 500 {
				s, drop, err := table.Hold(parse(t, fmt.Sprint("a=", i%2), ""), take)
				if err != nil || s == nil {
					t.Errorf("%v, %v", s, err)
					return
				}
				drop()
			}
		})
	}
	watches.Wait()
	if charged.Load() != 0 || table.Len() != 0 {
		t.Errorf("%d bytes and %d selectors are left", charged.Load(), table.Len())
	}
}

func TestTooManyTerms(t *testing.T) {
	t.Parallel()
	list := func(n int) string { return strings.TrimSuffix(strings.Repeat("v,", n), ",") }
	for _, tc := range []struct {
		name, labels, fields string
		terms                int
	}{
		{"labels", list(500), "", 500},
		{"one label more", list(501), "", 501},
		{"values of a set", "a in (" + list(501) + ")", "", 501},
		{"fields", "", strings.TrimSuffix(strings.Repeat("status.phase!=v,", 501), ","), 501},
		{"both", list(500), "status.phase=x", 501},
		{"escaped commas", "", `status.phase=` + strings.Repeat(`\,`, 501), 1},
	} {
		_, err := selector.Parse(tc.labels, tc.fields, pods())
		if tc.terms <= 500 && err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		if tc.terms > 500 && (err == nil || !strings.Contains(err.Error(), "501 terms")) {
			t.Errorf("%s: got %v", tc.name, err)
		}
	}
	if name := selector.NameOf(strings.Repeat("metadata.name=a,", 500) + "metadata.name=a"); name != "" {
		t.Errorf("a selector of too many terms names %q", name)
	}
}
