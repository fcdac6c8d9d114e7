package schema

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// loadgenPod returns the pod that the load generator creates, padded with annotations to 7 KiB.
func loadgenPod() []byte {
	pod := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p-1","namespace":"bench","labels":{"app":"loadgen","grp":"g1"},"annotations":{"lgseq":"0000000000000001"}},"spec":{"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","schedulerName":"default-scheduler",` +
		`"serviceAccountName":"default","automountServiceAccountToken":false,"nodeName":"node-1","nodeSelector":{"pool":"general","zone":"z1"},` +
		`"securityContext":{"fsGroup":2000,"runAsNonRoot":true,"runAsUser":1000,"supplementalGroups":[3000,4000]},` +
		`"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"arch","operator":"In","values":["amd64","arm64"]}]}]}},` +
		`"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":100,"podAffinityTerm":{"labelSelector":{"matchLabels":{"app":"loadgen"}},"topologyKey":"zone"}}]}},` +
		`"containers":[{"name":"app","image":"registry.local/team/app:1.1","imagePullPolicy":"IfNotPresent","command":["/bin/app"],"args":["--listen=:8080","--log-level=info","--shard=1"],` +
		`"ports":[{"name":"http","containerPort":8080,"protocol":"TCP"},{"name":"metrics","containerPort":9090,"protocol":"TCP"}],` +
		`"env":[{"name":"POD_NAME","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}},{"name":"POD_NAMESPACE","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}}},{"name":"REGION","value":"region-1"},{"name":"FEATURES","value":"alpha,beta,gamma,delta"},{"name":"DB_HOST","value":"db.internal.local"},{"name":"DB_PASSWORD","valueFrom":{"secretKeyRef":{"name":"db","key":"password"}}}],` +
		`"resources":{"limits":{"cpu":"500m","memory":"512Mi"},"requests":{"cpu":"100m","memory":"256Mi"}},` +
		`"livenessProbe":{"httpGet":{"path":"/healthz","port":8080,"scheme":"HTTP"},"initialDelaySeconds":10,"periodSeconds":10,"timeoutSeconds":1,"failureThreshold":3,"successThreshold":1},` +
		`"readinessProbe":{"httpGet":{"path":"/ready","port":8080,"scheme":"HTTP"},"periodSeconds":5,"timeoutSeconds":1,"failureThreshold":3,"successThreshold":1},` +
		`"securityContext":{"capabilities":{"drop":["ALL"]},"readOnlyRootFilesystem":true,"runAsNonRoot":true},` +
		`"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","volumeMounts":[{"name":"config","mountPath":"/etc/app","readOnly":true},{"name":"scratch","mountPath":"/scratch"}]},` +
		`{"name":"sidecar","image":"registry.local/infra/proxy:2.7","imagePullPolicy":"IfNotPresent","args":["--upstream=127.0.0.1:8080"],"ports":[{"name":"proxy","containerPort":15001,"protocol":"TCP"}],` +
		`"resources":{"limits":{"cpu":"200m","memory":"128Mi"},"requests":{"cpu":"50m","memory":"64Mi"}},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","volumeMounts":[{"name":"config","mountPath":"/etc/proxy","readOnly":true,"subPath":"proxy"}]}],` +
		`"tolerations":[{"key":"node.local/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},{"key":"node.local/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],` +
		`"volumes":[{"name":"config","configMap":{"name":"app-config","defaultMode":420}},{"name":"scratch","emptyDir":{}}]}}`
	return []byte(pod)
}

// paddedPod returns the pod with additional containers, so that it takes 7 KiB.
func paddedPod() []byte {
	extra := strings.Builder{}
	for i := 0; extra.Len()+len(loadgenPod()) < 7<<10; i++ {
		fmt.Fprintf(&extra, `{"name":"c%d","image":"registry.local/team/app:1.1","ports":[{"containerPort":80}],"env":[{"name":"A","value":"alpha"},{"name":"B","value":"beta"}],"resources":{"limits":{"cpu":"500m","memory":"512Mi"}},"volumeMounts":[{"name":"config","mountPath":"/etc/app"}]},`, i)
	}
	return []byte(strings.Replace(string(loadgenPod()), `"containers":[`, `"containers":[`+extra.String(), 1))
}

func configMap1K() []byte {
	return []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"cm-1","namespace":"bench","labels":{"app":"loadgen","grp":"g1"},"annotations":{"lgseq":"0000000000000001"}},"data":{"value":"` +
		strings.Repeat("ABCDabcd0123_-zz", 64) + `"}}`)
}

// create runs the steps of a create request on a body.
func create(tb testing.TB, k *Kind, body []byte) Encoded {
	o, _, err := k.Decode(body)
	if err != nil {
		tb.Fatal(err)
	}
	k.PrepareCreate(o)
	o.SetUID("01234567-89ab-cdef-0123-456789abcdef")
	o.SetCreationTimestamp(time.Unix(1514862245, 0))
	if errs := k.ValidateCreate(o); len(errs) > 0 {
		tb.Fatal(errs.ToAggregate())
	}
	k.Canonicalize(Create, o, nil)
	return o.Encode()
}

func BenchmarkCreate(b *testing.B) {
	cat := engine(b)
	for _, tc := range []struct {
		name string
		kind *Kind
		body []byte
	}{
		{"configmap1K", cat.Kind("/api/v1", "configmaps"), configMap1K()},
		{"pod", cat.Kind("/api/v1", "pods"), loadgenPod()},
		{"pod7K", cat.Kind("/api/v1", "pods"), paddedPod()},
	} {
		b.Run(tc.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(tc.body)))
			for b.Loop() {
				create(b, tc.kind, tc.body)
			}
		})
	}
}

func BenchmarkSteps(b *testing.B) {
	cat := engine(b)
	k := cat.Kind("/api/v1", "pods")
	stored := create(b, k, paddedPod()).Value
	b.Run("decodeStored", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := k.DecodeStored(stored); err != nil {
				b.Fatal(err)
			}
		}
	})
	o, err := k.DecodeStored(stored)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("default", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			k.Default(o)
		}
	})
	b.Run("validate", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			k.ValidateCreate(o)
		}
	})
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			o.Encode()
		}
	})
	b.Run("yaml", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ToYAML(stored); err != nil {
				b.Fatal(err)
			}
		}
	})
}
