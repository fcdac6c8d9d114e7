package validation

import "quorate/apiserver/objects/schema"

func node(spec string) string { return `{"metadata":{"name":"x"},"spec":{` + spec + `}}` }

func nodeInfo(info string) string {
	return `{"metadata":{"name":"x"},"status":{"nodeInfo":{` + info + `}}}`
}

// versions is what a Node's status has of the versions of its agent.
func versions(version string) map[string]string {
	return map[string]string{"status.nodeInfo.platformletVersion": `"` + version + `"`, "status.nodeInfo.kubeletVersion": `"` + version + `"`}
}

func nodeRows() []row {
	return []row{
		{name: "status is kept on create A58 M10", kind: "nodes", body: `{"metadata":{"name":"x"},"status":{"phase":"Running","capacity":{"cpu":"2"}}}`,
			want: map[string]string{"status.phase": `"Running"`, "status.allocatable": `{"cpu":"2"}`, "spec.externalID": `"x"`}},
		{name: "allocatable of its own M11", kind: "nodes", body: `{"metadata":{"name":"x"},"status":{"capacity":{"cpu":"2"},"allocatable":{"cpu":"1"}}}`,
			want: map[string]string{"status.allocatable": `{"cpu":"1"}`}},
		{name: "status is kept on update E17", kind: "nodes", op: schema.Update, old: `{"metadata":{"name":"x"},"status":{"phase":"Running"}}`,
			body: `{"metadata":{"name":"x"},"spec":{"unschedulable":true},"status":{}}`,
			want: map[string]string{"status.phase": `"Running"`, "spec.unschedulable": "true"}},
		{name: "spec is kept on status", kind: "nodes", op: schema.UpdateStatus, old: node(`"unschedulable":true`),
			body: `{"metadata":{"name":"x"},"status":{"phase":"Running"}}`,
			want: map[string]string{"status.phase": `"Running"`, "spec.unschedulable": "true"}},
		{name: "agent by its name", kind: "nodes", body: nodeInfo(`"platformletVersion":"v1"`), want: versions("v1")},
		{name: "agent by its stock name", kind: "nodes", body: nodeInfo(`"kubeletVersion":"v1"`), want: versions("v1")},
		{name: "proxy by its stock name", kind: "nodes", body: nodeInfo(`"kubeProxyVersion":"v1"`),
			want: map[string]string{"status.nodeInfo.platformProxyVersion": `"v1"`, "status.nodeInfo.kubeletVersion": `""`}},
		{name: "agent by both names", kind: "nodes", body: nodeInfo(`"platformletVersion":"v1","kubeletVersion":"v2"`), want: versions("v1")},
		{name: "agent changed by its name", kind: "nodes", op: schema.UpdateStatus, old: nodeInfo(`"kubeletVersion":"v1"`),
			body: nodeInfo(`"platformletVersion":"v2","kubeletVersion":"v1"`), want: versions("v2")},
		{name: "agent changed by its stock name", kind: "nodes", op: schema.UpdateStatus, old: nodeInfo(`"kubeletVersion":"v1"`),
			body: nodeInfo(`"platformletVersion":"v1","kubeletVersion":"v2"`), want: versions("v2")},
		{name: "agent sent by its stock name alone", kind: "nodes", op: schema.UpdateStatus, old: nodeInfo(`"kubeletVersion":"v1"`),
			body: nodeInfo(`"kubeletVersion":"v2"`), want: versions("v2")},
		{name: "taints of one key", kind: "nodes", body: node(`"taints":[{"key":"k","effect":"NoSchedule"},{"key":"k","effect":"NoExecute"}]`)},
		{name: "taints of one key and effect", kind: "nodes", body: node(`"taints":[{"key":"k","effect":"NoSchedule"},{"key":"k","value":"v","effect":"NoSchedule"}]`),
			errs: []string{`spec.taints[1]: Duplicate value: "k:NoSchedule": taints must be unique by key and effect pair`}},
		{name: "addresses", kind: "nodes",
			body: `{"metadata":{"name":"x"},"status":{"addresses":[{"type":"InternalIP","address":"1.2.3.4"},{"type":"InternalIP","address":"1.2.3.5"}]}}`},
		{name: "address twice", kind: "nodes",
			body: `{"metadata":{"name":"x"},"status":{"addresses":[{"type":"InternalIP","address":"1.2.3.4"},{"type":"InternalIP","address":"1.2.3.4"}]}}`,
			errs: []string{`status.addresses[1]: Duplicate value: {"type":"InternalIP","address":"1.2.3.4"}`}},
		{name: "range and provider set E25", kind: "nodes", op: schema.Update, old: node(""), body: node(`"podCIDR":"10.1.0.0/24","providerID":"p"`)},
		{name: "range and provider changed E25", kind: "nodes", op: schema.Update, old: node(`"podCIDR":"10.1.0.0/24","providerID":"p"`), body: node(`"podCIDR":"10.2.0.0/24"`),
			errs: []string{
				`spec.podCIDR: Forbidden: node updates may not change podCIDR except from "" to valid`,
				`spec.providerID: Forbidden: node updates may not change providerID except from "" to valid`}},
		{name: "external id changed E25", kind: "nodes", op: schema.Update, old: node(""), body: node(`"externalID":"e"`),
			errs: []string{`spec.externalID: Invalid value: "e": field is immutable`}},
	}
}
