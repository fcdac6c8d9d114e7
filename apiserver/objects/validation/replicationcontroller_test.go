package validation

import "quorate/apiserver/objects/schema"

// controller returns a ReplicationController with labels of its own and further fields in its spec.
func controller(labels, spec string) string {
	return `{"metadata":{"name":"x","namespace":"n"` + labels + `},"spec":{` + podTemplate("") + spec + `}}`
}

func replicationControllerRows() []row {
	const kind = "replicationcontrollers"
	return []row{
		{name: "labels of the template", kind: kind, body: controller("", ""), want: map[string]string{
			"spec.replicas": "1", "spec.selector": `{"app":"a"}`, "metadata.labels": `{"app":"a"}`, "metadata.generation": "1"}},
		{name: "labels of its own", kind: kind, body: controller(`,"labels":{"b":"c"}`, ""), want: map[string]string{
			"spec.selector": `{"app":"a"}`, "metadata.labels": `{"b":"c"}`}},
		{name: "no template", kind: kind, body: `{"metadata":{"name":"x","namespace":"n"},"spec":{"selector":{"app":"a"}}}`,
			errs: []string{"spec.template: Required value"}},
		{name: "nothing to select", kind: kind, body: `{"metadata":{"name":"x","namespace":"n"},"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}}`,
			errs: []string{"spec.selector: Required value"}},
		{name: "another selector", kind: kind, body: controller("", `,"selector":{"app":"b"}`),
			errs: []string{"spec.template.metadata.labels: Invalid value: {\"app\":\"a\"}: `selector` does not match template `labels`"}},
		{name: "pods that end", kind: kind, body: `{"metadata":{"name":"x","namespace":"n"},"spec":{` + podTemplate(`,"restartPolicy":"Never"`) + `}}`,
			errs: []string{`spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`}},
		{name: "more ready than there are", kind: kind, op: schema.UpdateStatus, old: controller("", ""), body: counts(`"replicas":1,"readyReplicas":2`),
			errs: []string{"status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas"}},
		{name: "status of the present spec", kind: kind, op: schema.UpdateStatus, old: controller("", ""), body: counts(`"replicas":1`),
			want: map[string]string{"status.replicas": "1", "metadata.generation": "1", "spec.selector": `{"app":"a"}`}},
		{name: "another selector and template", kind: kind, op: schema.Update, old: controller("", ""),
			body: `{"metadata":{"name":"x","namespace":"n"},"spec":{"template":{"metadata":{"labels":{"app":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`,
			want: map[string]string{"spec.selector": `{"app":"b"}`, "metadata.generation": "2"}},
		{name: "template without a spec that changes", kind: "podtemplates", op: schema.Update,
			old:  `{"metadata":{"name":"x","namespace":"n"},` + podTemplate("") + `}`,
			body: `{"metadata":{"name":"x","namespace":"n"},` + podTemplate(`,"hostname":"h"`) + `}`,
			want: map[string]string{"metadata.generation": "2"}},
	}
}
