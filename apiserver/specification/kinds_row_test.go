package specification

import (
	"testing"

	"quorate/apiserver/internal/testserver"
)

// kindRows prove what every kind of the catalog has in common.
var kindRows = []row{
	{"§1.1", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, k := range catalog() {
			name := "one"
			if k.kind == "ThirdPartyResource" {
				name = "one.example.com"
			}
			made := create(t, s, k.kind, ns, name)
			want(t, made, "kind", k.realKind(), "apiVersion", k.apiVersion(), "metadata.name", name)
			ok(t, s.Do("DELETE", item(k.kind, ns, name), ""))
		}
	}},
}
