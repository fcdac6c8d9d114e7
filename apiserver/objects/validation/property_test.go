package validation

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"quorate/apiserver/objects/schema"
)

// TestDefaultsAreIdempotent checks that setting the defaults of each row's object a second time
// does not change it (M35, E20).
func TestDefaultsAreIdempotent(t *testing.T) {
	cat := load(t, Hooks())
	for _, f := range rowFamilies() {
		for _, r := range f.rows {
			k := kindOf(cat, r.kind)
			o, _, err := create(k, r.body)
			if err != nil {
				t.Fatal(err)
			}
			once := string(o.AppendJSON(nil))
			k.Default(o)
			if twice := string(o.AppendJSON(nil)); twice != once {
				t.Errorf("%s: %s\n%s\n%s", f.name, r.name, once, twice)
			}
		}
	}
}

// TestReplacingByTheResponseChangesNothing replaces each row's object by the object in the
// response, and checks that this does not change it (E20).
func TestReplacingByTheResponseChangesNothing(t *testing.T) {
	cat := load(t, Hooks())
	for _, f := range rowFamilies() {
		for _, r := range f.rows {
			k := kindOf(cat, r.kind)
			if r.op != schema.Create || r.errs != nil {
				continue
			}
			first, errs, err := create(k, r.body)
			if err != nil || errs != nil {
				t.Fatal(err, errs)
			}
			old, err := reread(k, first)
			if err != nil {
				t.Fatal(err)
			}
			answer := string(old.AppendJSON(nil))
			second, errs, err := write(k, schema.Update, answer, old)
			if err != nil || errs != nil {
				t.Errorf("%s: %s: %v %v", f.name, r.name, err, errs)
				continue
			}
			if again, err := reread(k, second); err != nil || string(again.AppendJSON(nil)) != answer {
				t.Errorf("%s: %s: %v\n%s\n%s", f.name, r.name, err, answer, again.AppendJSON(nil))
			}
		}
	}
}

// drawSubsets draws subsets that overlap.
func drawSubsets(t *rapid.T) []string {
	numbers := func(name string, most int) string {
		text := ""
		for _, n := range rapid.SliceOfNDistinct(rapid.IntRange(1, 4), 0, most, rapid.ID[int]).Draw(t, name) {
			text += fmt.Sprintf("%d ", n)
		}
		return text
	}
	var out []string
	for range rapid.IntRange(0, 5).Draw(t, "subsets") {
		ready, notReady := numbers("ready", 4), numbers("notReady", 3)
		if ready+notReady != "" {
			out = append(out, subset(ready, notReady, numbers("ports", 3)))
		}
	}
	return out
}

// offered returns, for each port by name, which addresses are ready.
func offered(o *schema.Object) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, s := range o.Field("subsets").Items() {
		ports := []string{"none"}
		if s.Field("ports").Len() > 0 {
			ports = nil
		}
		for _, p := range s.Field("ports").Items() {
			ports = append(ports, p.Field("name").Str())
		}
		for _, port := range ports {
			if all[port] == nil {
				all[port] = map[string]bool{}
			}
			for _, a := range s.Field("addresses").Items() {
				all[port][a.Field("ip").Str()] = true
			}
			for _, a := range s.Field("notReadyAddresses").Items() {
				ip := a.Field("ip").Str()
				if !all[port][ip] {
					all[port][ip] = false
				}
			}
		}
	}
	return all
}

// TestRepackedSubsetsAreEquivalentAndCanonical checks that repacking preserves which addresses
// serve each port and whether they are ready, that subsets in reverse order give the same result,
// and that repacking the result does not change it (M14).
func TestRepackedSubsetsAreEquivalentAndCanonical(t *testing.T) {
	k := load(t, Hooks()).Kind("/api/v1", "endpoints")
	decode := func(t *rapid.T, body string) *schema.Object {
		o, _, err := k.Decode([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	packed := func(o *schema.Object) string {
		k.Canonicalize(schema.Create, o, nil)
		return string(o.AppendJSON(nil))
	}
	rapid.Check(t, func(t *rapid.T) {
		subsets := drawSubsets(t)
		given := decode(t, endpoints(subsets...))
		want := offered(given)
		once := packed(given)
		if got := offered(given); !maps.EqualFunc(got, want, maps.Equal[map[string]bool]) {
			t.Fatalf("offers %v, want %v", got, want)
		}
		if twice := packed(decode(t, once)); twice != once {
			t.Fatalf("packed again:\n%s\n%s", once, twice)
		}
		shuffled := slices.Clone(subsets)
		slices.Reverse(shuffled)
		if other := packed(decode(t, endpoints(shuffled...))); other != once {
			t.Fatalf("in another order:\n%s\n%s", once, other)
		}
		for _, s := range given.Field("subsets").Items() {
			if !isPacked(s) {
				t.Fatalf("not packed: %s", s.AppendJSON(nil))
			}
		}
	})
}

// FuzzRules prepares and validates any body of any kind, because hooks also run on values that
// formats reject.
func FuzzRules(f *testing.F) {
	cat := load(f, Hooks())
	for _, family := range rowFamilies() {
		for _, r := range family.rows {
			f.Add(r.kind, r.body)
		}
	}
	f.Fuzz(func(t *testing.T, kind, body string) {
		k := kindOf(cat, kind)
		if k == nil {
			return
		}
		o, _, err := k.Decode([]byte(body))
		if err != nil {
			return
		}
		k.PrepareCreate(o)
		valid := len(k.ValidateCreate(o)) == 0
		if old, err := reread(k, o); err == nil && valid {
			k.Canonicalize(schema.Create, o, nil)
			again := old.Copy()
			k.PrepareUpdate(schema.Update, again, old)
			k.ValidateUpdate(schema.Update, again, old)
		}
	})
}
