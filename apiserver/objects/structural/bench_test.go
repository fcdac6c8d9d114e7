package structural_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/structural"
	"quorate/apiserver/objects/validation"
)

// The steps of a create request on a custom resource, beside decoding and validating a ConfigMap of
// the same size. The resource has a list of objects, defaults, and one long string.
func BenchmarkCreate(b *testing.B) {
	const plain = `{"type":"object","required":["spec"],"properties":{"apiVersion":{"type":"string"},"kind":{"type":"string"},"metadata":{"type":"object"},
		"spec":{"type":"object","required":["replicas"],"properties":{"replicas":{"type":"integer","minimum":0},"mode":{"type":"string","enum":["a","b"],"default":"a"},
		"value":{"type":"string","maxLength":4096},"labels":{"type":"object","additionalProperties":{"type":"string"}},
		"ports":{"type":"array","maxItems":100,"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"type":"object","required":["name"],
			"properties":{"name":{"type":"string","maxLength":63},"port":{"type":"integer","format":"int32"},"protocol":{"type":"string","default":"TCP"}}}}}%RULES%}}}`
	const rule = `,"x-kubernetes-validations":[{"rule":"self.replicas <= 5 || self.mode == 'b'"}]`
	body := func(head, tail string) []byte {
		return []byte(head + strings.Repeat("ABCDabcd0123_-zz", (1200-len(head)-len(tail))/16) + tail)
	}
	const meta = `"metadata":{"name":"cm-1","namespace":"bench","labels":{"app":"loadgen","grp":"g1"},"annotations":{"lgseq":"0000000000000001"}}`
	custom := body(`{"apiVersion":"example.com/v1","kind":"Thing",`+meta+`,"spec":{"replicas":3,"labels":{"a":"b","c":"d"},"ports":[{"name":"http","port":80},{"name":"dns","port":53,"protocol":"UDP"}],"value":"`, `"}}`)
	config := body(`{"apiVersion":"v1","kind":"ConfigMap",`+meta+`,"data":{"value":"`, `"}}`)

	catalog, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		b.Fatal(err)
	}
	b.Run("configmap", func(b *testing.B) {
		kind := catalog.Kind("/api/v1", "configmaps")
		b.ReportAllocs()
		b.SetBytes(int64(len(config)))
		for b.Loop() {
			o, _, err := kind.Decode(config)
			if err != nil {
				b.Fatal(err)
			}
			if errs := kind.ValidateCreate(o); len(errs) > 0 {
				b.Fatal(errs.ToAggregate())
			}
			o.Encode()
		}
	})
	for name, extra := range map[string]string{"custom": "", "customWithRule": rule} {
		b.Run(name, func(b *testing.B) {
			s, report, err := structural.Compile(context.Background(), []byte(strings.Replace(plain, "%RULES%", extra, 1)), structural.Options{})
			if err != nil || len(report.Errors) > 0 {
				b.Fatal(err, report)
			}
			var buffer bytes.Buffer
			b.ReportAllocs()
			b.SetBytes(int64(len(custom)))
			for b.Loop() {
				n, err := s.Normalize(buffer.AvailableBuffer(), custom)
				if err != nil {
					b.Fatal(err)
				}
				if errs, err := s.ValidateCreate(b.Context(), n.Object); err != nil || len(errs) > 0 {
					b.Fatal(err, errs)
				}
			}
		})
	}
}
