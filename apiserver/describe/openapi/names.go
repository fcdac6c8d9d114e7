package openapi

import (
	"slices"
	"strconv"
	"strings"

	"quorate/apiserver/objects/schema"
)

// ownPackage is the package of messages that upstream does not have.
const ownPackage = "io.platform.api"

// packageOf returns the package of a message as OpenAPI documents write it: "io.k8s.api.core.v1"
// for "k8s.io.api.core.v1.Pod". Messages of other products are in our own package.
func packageOf(upstream string) string {
	end := strings.LastIndexByte(upstream, '.')
	if end < 0 {
		return ownPackage
	}
	pkg := upstream[:end]
	if rest, ok := strings.CutPrefix(pkg, "k8s.io."); ok {
		return "io.k8s." + rest
	}
	_, rest, _ := strings.Cut(pkg, ".")
	return "io.platform." + rest
}

// kindPackage is packageOf for the message of a kind, with the kind's own version. For a kind
// without a message of its own it returns the reversed group, such as "com.example.stable.v1".
func kindPackage(k *schema.Kind) string {
	if k.Schemaless() {
		parts := strings.Split(k.Group, ".")
		slices.Reverse(parts)
		return strings.Join(append(parts, k.Version), ".")
	}
	pkg := packageOf(k.Message.Spec.Upstream)
	if pkg == ownPackage {
		return pkg + "." + k.Version
	}
	return pkg[:strings.LastIndexByte(pkg, '.')+1] + k.Version
}

// candidate returns the n-th name to try for a component, of which the first is the best. Clients
// show its last word. contexts distinguish messages that have different fields in some kinds.
func candidate(pkg string, contexts []string, name string, n int) string {
	switch {
	case n == 0:
	case n <= len(contexts):
		pkg += "." + strings.Join(contexts[:n], ".")
	default:
		pkg += "." + strconv.Itoa(n-len(contexts)+1)
	}
	return pkg + "." + name
}

// alike reports whether two messages have the same fields, recursively. They can only differ in the
// fields that contexts select. assumed contains the pairs that are being compared.
func alike(a, b *schema.Message, assumed map[[2]*schema.Message]bool) bool {
	pair := [2]*schema.Message{a, b}
	if a == b || assumed[pair] {
		return true
	}
	if a.Spec != b.Spec || len(a.Fields()) != len(b.Fields()) {
		return false
	}
	assumed[pair] = true
	for i, f := range a.Fields() {
		g := b.Fields()[i]
		if f.Spec != g.Spec {
			return false
		}
		if below := innermost(f.Type).Message(); below != nil && !alike(below, innermost(g.Type).Message(), assumed) {
			return false
		}
	}
	return true
}

func innermost(t *schema.Type) *schema.Type {
	for t.Elem() != nil {
		t = t.Elem()
	}
	return t
}
