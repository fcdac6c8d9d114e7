package route

import (
	"math/rand/v2"
	"net/url"
	"reflect"
	"strings"
	"testing"
)

// TestParametersAreThoseOfPackageURL parses queries of all kinds, and random ones of the characters
// that have a meaning in queries, and compares the result with that of package url.
func TestParametersAreThoseOfPackageURL(t *testing.T) {
	queries := []string{
		"", "&", "=", "a", "a=", "=b", "a=1", "a=1&a=2&b=3", "a=1&&b=2&", "a=b=c", "a;b=1&c=2", "a=1;b=2", "%zz=1&b=2",
		"b=%zz&c=1", "a%20b=c+d&e=%26%3D", "labelSelector=a%3Db%2Cc&limit=500&continue=x%2Fy", "a=%", "a=%2", "%61=1", "A=1&a=2",
	}
	const alphabet = "ab=&;%+26zA"
	for range 20_000 {
		var b strings.Builder
		for range rand.N(14) {
			b.WriteByte(alphabet[rand.N(len(alphabet))])
		}
		queries = append(queries, b.String())
	}
	for _, query := range queries {
		want := (&url.URL{RawQuery: query}).Query()
		got := parseParameters(query)
		all := url.Values{}
		for _, v := range got {
			all[v.name] = append(all[v.name], v.text)
		}
		if !reflect.DeepEqual(all, want) {
			t.Fatalf("%q is parsed as %v, want %v", query, all, want)
		}
		for _, name := range []string{"a", "b", "", "c"} {
			first, ok := got.first(name)
			if first != want.Get(name) || ok != want.Has(name) || !reflect.DeepEqual(got.all(name), want[name]) {
				t.Fatalf("%q: %s has first %q, %v, all %q; want %q", query, name, first, ok, got.all(name), want[name])
			}
		}
	}
}

func TestParametersAreBounded(t *testing.T) {
	if got := parseParameters(strings.Repeat("a=1&", MaxParameters+1)); len(got) != MaxParameters {
		t.Errorf("%d parameters, want %d", len(got), MaxParameters)
	}
}
