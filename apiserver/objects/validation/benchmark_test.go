package validation

import (
	"strings"
	"testing"

	"quorate/apiserver/objects/schema"
)

// bigPod returns a pod of about 7 KiB with most fields that rules check.
func bigPod() string {
	container := func(name string) string {
		var env []string
		for range 12 {
			env = append(env, `{"name":"VARIABLE","valueFrom":{"fieldRef":{"fieldPath":"status.podIP"}}}`)
		}
		return `{"name":"` + name + `","image":"registry.example.com:5000/team/app:1.2.3","ports":[{"name":"http","containerPort":80,"hostPort":80` + name[1:] + `}],` +
			`"env":[` + strings.Join(env, ",") + `],"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"500m","memory":"1Gi"}},` +
			`"volumeMounts":[{"name":"v1","mountPath":"/a"},{"name":"v2","mountPath":"/b"}],` +
			`"livenessProbe":{"httpGet":{"path":"/healthz","port":80}},"readinessProbe":{"exec":{"command":["true"]}}}`
	}
	return pod(`"volumes":[{"name":"v1"},{"name":"v2","secret":{"secretName":"s"}}],"tolerations":[{"operator":"Exists"}],` +
		`"containers":[` + strings.Join([]string{container("c1"), container("c2"), container("c3"), container("c4")}, ",") + `]`)
}

// TestValidatingAllocatesNothing checks that validating a valid object does not allocate.
func TestValidatingAllocatesNothing(t *testing.T) {
	cat := load(t, Hooks())
	k := cat.Kind("/api/v1", "pods")
	body := strings.ReplaceAll(bigPod(), `"500m"`, `"1"`) // quantities that differ would be parsed
	o, errs, err := create(k, body)
	if err != nil || errs != nil {
		t.Fatal(err, errs)
	}
	if n := testing.AllocsPerRun(10, func() { k.ValidateCreate(o) }); n > 1 { // the Context itself
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkPod(b *testing.B) {
	k := load(b, Hooks()).Kind("/api/v1", "pods")
	body := []byte(bigPod())
	o, _, err := k.Decode(body)
	if err != nil {
		b.Fatal(err)
	}
	k.PrepareCreate(o)
	old, err := reread(k, o)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			if _, _, err := k.Decode(body); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("prepare", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			k.PrepareCreate(o)
		}
	})
	b.Run("validate", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if errs := k.ValidateCreate(o); errs != nil {
				b.Fatal(errs)
			}
		}
	})
	b.Run("validate update", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if errs := k.ValidateUpdate(schema.Update, old, old); errs != nil {
				b.Fatal(errs)
			}
		}
	})
}

func BenchmarkRepack(b *testing.B) {
	k := load(b, Hooks()).Kind("/api/v1", "endpoints")
	for name, body := range map[string]string{
		"packed": endpoints(subset(strings.Join(strings.Fields(strings.Repeat("1 2 3 ", 1)), " "), "", "1 2")),
		"split":  endpoints(subset("1 2 3", "", "1 2"), subset("4 5", "6", "1"), subset("4", "", "3")),
	} {
		b.Run(name, func(b *testing.B) {
			o, _, err := k.Decode([]byte(body))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				again := o.Copy()
				k.Canonicalize(schema.Create, again, nil)
			}
		})
	}
}
