package apiserver_test

import (
	"fmt"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// BenchmarkCreateWithConfigurations measures creates that no webhook is called about, by the number
// of webhooks that are configured for other resources.
func BenchmarkCreateWithConfigurations(b *testing.B) {
	for _, webhooks := range []int{0, 1, 100} {
		b.Run(fmt.Sprint(webhooks), func(b *testing.B) {
			s := testserver.Start(b, nil)
			for i := range webhooks {
				body := fmt.Sprintf(`{"metadata":{"name":"c%d"},"webhooks":[{"name":"h.example.com","clientConfig":{"url":"https://127.0.0.1:1/"},
					"rules":[{"operations":["*"],"apiGroups":["nobody.example.com"],"apiVersions":["v1"],"resources":["*"]}],
					"sideEffects":"None","admissionReviewVersions":["v1"]}]}`, i)
				if r := s.Do("POST", validatingConfigurations, body); !r.OK() {
					b.Fatal(r.Code, r.Body)
				}
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				if r := s.Do("POST", configMaps, configMapOf(fmt.Sprint("c-", i), "")); !r.OK() {
					b.Fatal(r.Code, r.Body)
				}
			}
		})
	}
}
