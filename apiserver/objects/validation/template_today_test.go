package validation

import (
	"fmt"
	"strings"
)

// templateOf returns an object with a pod template whose spec has further fields, or whose first
// container has them.
func templateOf(container, spec string) string {
	return strings.Replace(deployment(""), `{"name":"c","image":"i"}]`, `{"name":"c","image":"i"`+container+`}]`+spec, 1)
}

// responders returns n eviction responders.
func responders(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf(`{"name":"a.io/r%d","priority":1}`, i)
	}
	return out
}

// templateTodayRows are about the fields that only pod templates of extra kinds have.
func templateTodayRows() []row {
	const (
		spec      = "spec.template.spec."
		container = spec + "containers[0]."
		grpc      = `{"grpc":{"port":9000}}`
		spread    = `{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}`
	)
	const (
		nodeTerms = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
		byNode    = `"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
			{"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}]}}}`
		responder = `{"name":"a.io/r","priority":1}`
	)
	sidecar := func(policy string) string {
		return templateOf("", `,"initContainers":[{"name":"s","image":"i"`+policy+`,"startupProbe":`+grpc+`}]`)
	}
	return []row{
		{name: "seccomp profile", kind: "deployments", body: templateOf("", `,"securityContext":{"seccompProfile":{"type":"RuntimeDefault"}}`),
			want: map[string]string{spec + "securityContext.seccompProfile": `{"type":"RuntimeDefault"}`}},
		{name: "unknown seccomp profile", kind: "replicasets", body: templateOf(`,"securityContext":{"seccompProfile":{"type":"x"}}`, ""), errs: []string{
			container + `securityContext.seccompProfile.type: Unsupported value: "x": supported values: "RuntimeDefault", "Localhost", "Unconfined"`}},
		{name: "startup probe by gRPC", kind: "deployments", body: templateOf(`,"startupProbe":`+grpc, ""),
			want: map[string]string{container + "startupProbe.grpc": `{"port":9000,"service":""}`}},
		{name: "startup probe that has to succeed twice", kind: "deployments", body: templateOf(`,"startupProbe":{"successThreshold":2,"grpc":{"port":9000}}`, ""),
			errs: []string{container + `startupProbe.successThreshold: Invalid value: 2: must be 1`}},
		{name: "spread", kind: "deployments", body: templateOf("", `,"topologySpreadConstraints":[`+spread+`]`),
			want: map[string]string{spec + "topologySpreadConstraints": `[` + spread + `]`}},
		{name: "sidecar with a probe", kind: "deployments", body: sidecar(`,"restartPolicy":"Always"`),
			want: map[string]string{spec + "initContainers[0].restartPolicy": `"Always"`}},
		{name: "pause before the end", kind: "deployments", body: templateOf(`,"lifecycle":{"preStop":{"sleep":{"seconds":5}}}`, ""),
			want: map[string]string{container + "lifecycle.preStop": `{"sleep":{"seconds":5}}`}},
		{name: "token and claim of the pod's own", kind: "deployments", body: templateOf("", `,"volumes":[
			{"name":"t","projected":{"sources":[{"serviceAccountToken":{"path":"token"}}]}},
			{"name":"e","ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}}}]`),
			want: map[string]string{spec + "volumes[0].projected.sources[0].serviceAccountToken": `{"expirationSeconds":3600,"path":"token"}`}},
		{name: "resolvers of its own", kind: "deployments", body: templateOf("", `,"dnsPolicy":"None","dnsConfig":{"nameservers":["192.0.2.1"]}`),
			want: map[string]string{spec + "dnsPolicy": `"None"`, spec + "dnsConfig": `{"nameservers":["192.0.2.1"]}`}},
		{name: "no resolvers at all", kind: "deployments", body: templateOf("", `,"dnsPolicy":"None"`),
			errs: []string{spec + "dnsConfig: Required value"}},
		{name: "resolvers without an address", kind: "deployments", body: templateOf("", `,"dnsPolicy":"None","dnsConfig":{"searches":["a"]}`),
			errs: []string{spec + "dnsConfig.nameservers: Required value"}},
		{name: "resolvers beside those of the cluster", kind: "deployments", body: templateOf("", `,"dnsConfig":{"searches":["a"]}`),
			want: map[string]string{spec + "dnsConfig": `{"searches":["a"]}`}},
		{name: "unknown policy", kind: "deployments", body: templateOf("", `,"dnsPolicy":"x"`), errs: []string{
			spec + `dnsPolicy: Unsupported value: "x": supported values: "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"`}},
		{name: "pod whose resolvers would be its own", kind: "pods", errs: []string{
			`spec.dnsPolicy: Unsupported value: "None": supported values: "ClusterFirst", "ClusterFirstWithHostNet", "Default"`},
			body: `{"metadata":{"name":"x","namespace":"n"},"spec":{"containers":[{"name":"c","image":"i"}],"dnsPolicy":"None"}}`},
		{name: "node by its name", kind: "podtemplates", body: `{"metadata":{"name":"x","namespace":"n"},` + podTemplate(`,`+byNode) + `}`,
			want: map[string]string{"template.spec." + nodeTerms + "[0]": `{"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}`,
				"metadata.generation": "1"}},
		{name: "certificate of the pod", kind: "deployments", body: templateOf("", `,"volumes":[{"name":"p","projected":{"sources":[
			{"podCertificate":{"signerName":"a.io/s","keyType":"ED25519","keyPath":"k"}}]}}]`),
			want: map[string]string{spec + "volumes[0].projected.sources[0].podCertificate": `{"keyPath":"k","keyType":"ED25519","maxExpirationSeconds":86400,"signerName":"a.io/s"}`}},
		{name: "twice the same responder", kind: "deployments", body: templateOf("", `,"evictionResponders":[`+responder+`,`+responder+`]`),
			errs: []string{spec + `evictionResponders[1].name: Duplicate value: "a.io/r"`}},
		{name: "too many responders", kind: "deployments", body: templateOf("", `,"evictionResponders":[`+strings.Join(responders(11), ",")+`]`),
			errs: []string{spec + "evictionResponders: Too many: 11: must have at most 10 items"}},
	}
}
