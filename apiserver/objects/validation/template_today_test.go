package validation

import "strings"

// templateOf returns an object with a pod template whose spec has further fields, or whose first
// container has them.
func templateOf(container, spec string) string {
	return strings.Replace(deployment(""), `{"name":"c","image":"i"}]`, `{"name":"c","image":"i"`+container+`}]`+spec, 1)
}

// templateTodayRows are about the fields that only pod templates of extra kinds have.
func templateTodayRows() []row {
	const (
		spec      = "spec.template.spec."
		container = spec + "containers[0]."
		grpc      = `{"grpc":{"port":9000}}`
		spread    = `{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}`
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
	}
}
