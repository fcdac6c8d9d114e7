package patch_test

import (
	"fmt"
	"strings"
	"testing"

	"quorate/apiserver/objects/patch"
)

// benchConfigMap returns a ConfigMap of 1 KiB, the size used in the load tests.
func benchConfigMap() string {
	return `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"cm-1","namespace":"bench","uid":"01234567-89ab-cdef-0123-456789abcdef",` +
		`"resourceVersion":"12","creationTimestamp":"2018-01-02T03:04:05Z","labels":{"app":"loadgen","grp":"g1"},"annotations":{"lgseq":"0000000000000001"}},` +
		`"data":{"value":"` + strings.Repeat("ABCDabcd0123_-zz", 64) + `"}}`
}

// benchPod returns a pod of 7 KiB.
func benchPod() string {
	var containers strings.Builder
	for i := 0; containers.Len() < 6<<10; i++ {
		fmt.Fprintf(&containers, `{"name":"c%d","image":"registry.local/team/app:1.1","ports":[{"containerPort":80,"protocol":"TCP"}],`+
			`"env":[{"name":"A","value":"alpha"},{"name":"B","value":"beta"}],"resources":{"limits":{"cpu":"500m","memory":"512Mi"}},`+
			`"volumeMounts":[{"name":"config","mountPath":"/etc/app"}],"terminationMessagePath":"/dev/termination-log"},`, i)
	}
	return `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p-1","namespace":"bench","labels":{"app":"loadgen"},"annotations":{"lgseq":"1"},"finalizers":["x/1"]},` +
		`"spec":{"containers":[` + containers.String() + `{"name":"last","image":"i"}],"volumes":[{"name":"config","configMap":{"name":"c"}}],"nodeName":"n"},` +
		`"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`
}

func BenchmarkPatch(b *testing.B) {
	for _, tc := range []struct {
		name     string
		plural   string
		typ      patch.Type
		document string
		body     string
	}{
		{"merge/configmap1K", "configmaps", patch.Merge, benchConfigMap(), `{"metadata":{"annotations":{"lgseq":"0000000000000002"}}}`},
		{"strategic/pod7K", "pods", patch.Strategic, benchPod(),
			`{"metadata":{"annotations":{"lgseq":"2"}},"spec":{"$setElementOrder/containers":[{"name":"c3"},{"name":"last"}],"containers":[{"name":"c3","image":"x","env":[{"name":"B","value":"gamma"}]}]}}`},
		{"strategic/labels7K", "pods", patch.Strategic, benchPod(), `{"metadata":{"annotations":{"lgseq":"2"}}}`},
		{"json/pod7K", "pods", patch.JSON, benchPod(), `[{"op":"replace","path":"/metadata/annotations/lgseq","value":"2"},{"op":"add","path":"/spec/containers/3/env/-","value":{"name":"C"}}]`},
	} {
		b.Run(tc.name, func(b *testing.B) {
			k, document, body := kind(b, "/api/v1", tc.plural), []byte(tc.document), []byte(tc.body)
			b.ReportAllocs()
			b.SetBytes(int64(len(document)))
			for b.Loop() {
				p, err := patch.Parse(tc.typ, body)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := p.Apply(k, document); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
