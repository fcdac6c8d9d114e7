package state

import (
	"slices"
	"testing"
)

func TestKey_splits_into_its_parts(t *testing.T) {
	for _, parts := range [][3]string{{"pods", "default", "web-0"}, {"nodes", "", "n1"}, {"apps/deployments", "kube-system", "dns"}} {
		k := NewKey(parts[0], parts[1], parts[2])
		resource, namespace, name := k.Split()
		if got := [3]string{resource, namespace, name}; got != parts || k.Resource() != parts[0] {
			t.Errorf("%q splits into %q", k, got)
		}
	}
}

// The order holds for parts with a common prefix.
func TestKey_orders_by_resource_namespace_and_name(t *testing.T) {
	keys := []Key{
		NewKey("pods", "a", "x"), NewKey("pods", "a", "x-1"), NewKey("pods", "a-b", "a"), NewKey("pods", "ab", "a"),
		NewKey("pods-x", "", "a"), NewKey("podtemplates", "a", "a"),
	}
	if !slices.IsSorted(keys) {
		t.Fatalf("not in order: %q", keys)
	}
}

func TestPrefix_covers_its_collection_only(t *testing.T) {
	k := NewKey("pods", "a", "x")
	for p, want := range map[Prefix]bool{
		"": true, ResourcePrefix("pods"): true, ResourcePrefix("pod"): false, NamespacePrefix("pods", "a"): true,
		NamespacePrefix("pods", ""): false, NamespacePrefix("pods", "ab"): false,
	} {
		if p.Covers(k) != want {
			t.Errorf("%q covers %q: %v", p, k, !want)
		}
	}
	if r := NamespacePrefix("pods", "a").Resource(); r != "pods" {
		t.Errorf("resource is %q", r)
	}
}

func TestAttributes_are_a_sorted_map(t *testing.T) {
	a := NewAttributes(map[string]string{"tier": "front", "app": "web", "empty": ""})
	if a != "app\x00web\x00empty\x00\x00tier\x00front\x00" || NewAttributes(nil) != "" {
		t.Fatalf("encoded as %q", a)
	}
	for name, want := range map[string]string{"app": "web", "empty": "", "tier": "front"} {
		if value, ok := a.Get(name); !ok || value != want {
			t.Errorf("%s is %q, %v", name, value, ok)
		}
	}
	for _, name := range []string{"", "ap", "apps", "zone"} {
		if _, ok := a.Get(name); ok {
			t.Errorf("has %q", name)
		}
	}
	if n := testing.AllocsPerRun(100, func() { a.Get("tier") }); n != 0 {
		t.Errorf("Get allocates %v times", n)
	}
}
