package validation

import (
	"strings"

	"quorate/apiserver/objects/schema"
)

func binding(ref, subjects string) string {
	return `{"metadata":{"name":"x"},"roleRef":{` + ref + `},"subjects":[` + subjects + `]}`
}

func rbacRows() []row {
	const ref = `"kind":"ClusterRole","name":"r"`
	local := func(ref, subjects string) string {
		return strings.Replace(binding(ref, subjects), `"name":"x"`, `"name":"x","namespace":"n"`, 1)
	}
	role := func(rule string) string { return named(`"rules":[{` + members(`"verbs":["get"]`, rule) + `}]`) }
	return []row{
		{name: "rule about resources M29", kind: "roles", body: role(`"apiGroups":[""],"resources":["pods"]`)},
		{name: "rule about paths M29", kind: "clusterroles", body: role(`"nonResourceURLs":["/healthz"]`)},
		{name: "rule about paths in a namespace M29", kind: "roles", body: role(`"nonResourceURLs":["/healthz"]`),
			errs: []string{`rules[0].nonResourceURLs: Invalid value: ["/healthz"]: namespaced rules cannot apply to non-resource URLs`}},
		{name: "rule about both M29", kind: "clusterroles", body: role(`"nonResourceURLs":["/healthz"],"resourceNames":["a"]`),
			errs: []string{`rules[0].nonResourceURLs: Invalid value: ["/healthz"]: rules cannot apply to both regular resources and non-resource URLs`}},
		{name: "rule about nothing M29", kind: "clusterroles", body: role(""),
			errs: []string{"rules[0].apiGroups: Required value: resource rules must supply at least one api group",
				"rules[0].resources: Required value: resource rules must supply at least one resource"}},
		{name: "groups are filled in M30", kind: "clusterrolebindings",
			body: binding(ref, `{"kind":"User","name":"u:v"},{"kind":"Group","name":"g"},{"kind":"ServiceAccount","name":"s","namespace":"n"}`),
			want: map[string]string{
				"roleRef":     `{"apiGroup":"rbac.authorization.platform.io","kind":"ClusterRole","name":"r"}`,
				"subjects[0]": `{"apiGroup":"rbac.authorization.platform.io","kind":"User","name":"u:v"}`,
				"subjects[1]": `{"apiGroup":"rbac.authorization.platform.io","kind":"Group","name":"g"}`,
				"subjects[2]": `{"kind":"ServiceAccount","name":"s","namespace":"n"}`,
			}},
		{name: "groups of others M30", kind: "clusterrolebindings",
			body: binding(ref, `{"kind":"User","name":"u","apiGroup":"a"},{"kind":"ServiceAccount","name":"s","namespace":"n","apiGroup":"b"}`),
			errs: []string{`subjects[0].apiGroup: Unsupported value: "a": supported values: "rbac.authorization.platform.io"`,
				`subjects[1].apiGroup: Unsupported value: "b": supported values: ""`}},
		{name: "service account of no namespace M30", kind: "clusterrolebindings", body: binding(ref, `{"kind":"ServiceAccount","name":"s"}`),
			errs: []string{"subjects[0].namespace: Required value"}},
		{name: "service account of the namespace M30", kind: "rolebindings", body: local(ref, `{"kind":"ServiceAccount","name":"s"}`),
			want: map[string]string{"subjects[0]": `{"kind":"ServiceAccount","name":"s"}`}},
		{name: "role of the namespace Z14", kind: "rolebindings", body: local(`"kind":"Role","name":"r"`, ""),
			want: map[string]string{"roleRef": `{"apiGroup":"rbac.authorization.platform.io","kind":"Role","name":"r"}`}},
		{name: "role of the namespace in a binding of the cluster Z14", kind: "clusterrolebindings", body: binding(`"kind":"Role","name":"r"`, ""),
			errs: []string{`roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"`}},
		{name: "neither role Z14", kind: "rolebindings", body: local(`"kind":"Pod","name":"r"`, ""),
			errs: []string{`roleRef.kind: Unsupported value: "Pod": supported values: "Role", "ClusterRole"`}},
		{name: "another role Z14 E27", kind: "rolebindings", op: schema.Update, old: local(ref, ""), body: local(`"kind":"Role","name":"r"`, ""),
			errs: []string{`roleRef: Invalid value: {"apiGroup":"rbac.authorization.platform.io","kind":"Role","name":"r"}: cannot change roleRef`}},
		{name: "service account of no good name M30", kind: "clusterrolebindings",
			body: binding(ref, `{"kind":"ServiceAccount","name":"s:t","namespace":"n"}`),
			errs: []string{`subjects[0].name: Invalid value: "s:t": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`}},
		{name: "another role E27", kind: "clusterrolebindings", op: schema.Update, old: binding(ref, ""), body: binding(`"kind":"ClusterRole","name":"s"`, ""),
			errs: []string{`roleRef: Invalid value: {"apiGroup":"rbac.authorization.platform.io","kind":"ClusterRole","name":"s"}: cannot change roleRef`}},
		{name: "the same role E27", kind: "clusterrolebindings", op: schema.Update, old: binding(ref, ""), body: binding(ref, `{"kind":"User","name":"u"}`)},
	}
}
