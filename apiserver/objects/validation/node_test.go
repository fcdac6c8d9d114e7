package validation

import "quorate/apiserver/objects/schema"

func node(spec string) string { return `{"metadata":{"name":"x"},"spec":{` + spec + `}}` }

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
