package apiserver_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// gadgets is the collection of a custom kind whose objects are as large as the ConfigMaps of the
// other benchmarks.
const gadgets = "/apis/shop.example.com/v1/namespaces/default/gadgets"

// gadgetDefinition defines it, with the fields of extra beside those that all objects have.
func gadgetDefinition(extra string) string {
	return definitionOf("gadgets", "Gadget", "Namespaced", `{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{
		"spec":{"type":"object","required":["value"],"properties":{`+extra+`"value":{"type":"string","maxLength":4096},"mode":{"type":"string","default":"a","enum":["a","b"]},
		"size":{"type":"integer","minimum":0},"labels":{"type":"object","additionalProperties":{"type":"string"}}}}}}}}`)
}

func gadget(name string, group int) string {
	return fmt.Sprintf(`{"kind":"Gadget","apiVersion":"shop.example.com/v1","metadata":{"name":"%s","labels":{"app":"loadgen","grp":"g%d"},"annotations":{"seq":"1"}},"spec":{"mode":"a","size":3,"value":"%s"}}`,
		name, group, strings.Repeat("x", 1000))
}

// BenchmarkCustomResource compares requests for custom resources with those for ConfigMaps of the
// same size (BenchmarkGet, BenchmarkList, BenchmarkCreate): of a definition that never changed, of
// one whose schema changed without an effect on the objects, and of one that has a new default,
// which all objects lack.
func BenchmarkCustomResource(b *testing.B) {
	for _, schema := range []struct{ name, extra string }{
		{"first schema", ""},
		{"schema changed", `"another":{"type":"string"},`},
		{"schema with another default", `"another":{"type":"string","default":"x"},`},
	} {
		b.Run(schema.name, func(b *testing.B) {
			s := testserver.Start(b, nil)
			code := s.Do("POST", definitions, gadgetDefinition("")).Code
			s.Eventually("the definition is established", func() bool {
				return code == 201 && strings.Contains(s.Do("GET", definitions+"/gadgets.shop.example.com", "").Body, `"InitialNamesAccepted"`)
			})
			fillWith(b, s, 1000, 201, gadgets, gadget)
			if schema.extra != "" {
				versions := gadgetDefinition(schema.extra)
				versions = versions[strings.Index(versions, `"versions"`):]
				if got := patchAs(s, "merge", definitions+"/gadgets.shop.example.com", `{"spec":{`+versions); got.Code != 200 {
					b.Fatal(got.Body)
				}
			}
			b.Run("get", func(b *testing.B) { serve(b, s, gadgets+"/obj-000500?resourceVersion=0", 1000) })
			b.Run("list of 1000", func(b *testing.B) { serve(b, s, gadgets+"?resourceVersion=0", 1<<20) })
			b.Run("create", func(b *testing.B) { create(b, s, gadgets, gadget) })
		})
	}
	b.Run("ConfigMap", func(b *testing.B) {
		s := testserver.Start(b, nil)
		fill(b, s, 1000)
		const path = "/api/v1/namespaces/default/configmaps"
		b.Run("get", func(b *testing.B) { serve(b, s, path+"/obj-000500?resourceVersion=0", 1000) })
		b.Run("list of 1000", func(b *testing.B) { serve(b, s, path+"?resourceVersion=0", 1<<20) })
		b.Run("create", func(b *testing.B) { create(b, s, path, kilobyte) })
	})
}

// create creates objects of a collection as fast as it can.
func create(b *testing.B, s *testserver.Server, path string, object func(name string, group int) string) {
	b.Helper()
	h := s.Server.Handler()
	var n atomic.Int64
	b.ReportAllocs()
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			w := newSink()
			h.ServeHTTP(w, s.Request("POST", path, object(fmt.Sprintf("new-%d-%08d", b.N, n.Add(1)), 1)))
			if w.code/100 != 2 {
				b.Errorf("code %d", w.code)
			}
		}
	})
}
