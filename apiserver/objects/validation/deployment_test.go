package validation

import "quorate/apiserver/objects/schema"

func podTemplate(spec string) string {
	return `"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]` + spec + `}}`
}

func deployment(spec string) string {
	return `{"metadata":{"name":"x","namespace":"n"},"spec":{"selector":{"matchLabels":{"app":"a"}},` + podTemplate("") + spec + `}}`
}

func strategy(text string) string { return deployment(`,"strategy":{` + text + `}`) }

func counts(text string) string {
	return `{"metadata":{"name":"x","namespace":"n"},"status":{` + text + `}}`
}

func deploymentRows() []row {
	return []row{
		{name: "defaults", kind: "deployments", body: deployment(""), want: map[string]string{
			"spec.replicas": "1", "spec.strategy": `{"rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"},"type":"RollingUpdate"}`,
			"spec.revisionHistoryLimit": "10", "spec.progressDeadlineSeconds": "600", "metadata.generation": "1"}},
		{name: "recreates", kind: "deployments", body: strategy(`"type":"Recreate"`), want: map[string]string{"spec.strategy": `{"type":"Recreate"}`}},
		{name: "recreates at a pace", kind: "deployments", body: strategy(`"type":"Recreate","rollingUpdate":{}`),
			errs: []string{"spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"}},
		{name: "moves nothing", kind: "deployments", body: strategy(`"rollingUpdate":{"maxUnavailable":0,"maxSurge":"0%"}`),
			errs: []string{"spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"}},
		{name: "moves by surge", kind: "deployments", body: strategy(`"rollingUpdate":{"maxUnavailable":0,"maxSurge":1}`)},
		{name: "lacks more than all", kind: "deployments", body: strategy(`"rollingUpdate":{"maxUnavailable":"101%"}`),
			errs: []string{`spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%`}},
		{name: "share beyond any number", kind: "deployments", body: strategy(`"rollingUpdate":{"maxUnavailable":"99999999999999999999%"}`),
			errs: []string{`spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "99999999999999999999%": must not be greater than 100%`}},
		{name: "deadline before ready", kind: "deployments", body: deployment(`,"minReadySeconds":5,"progressDeadlineSeconds":5`),
			errs: []string{"spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds"}},
		{name: "another selector", kind: "deployments", body: `{"metadata":{"name":"x","namespace":"n"},"spec":{"selector":{"matchLabels":{"app":"b"}},` + podTemplate("") + `}}`,
			errs: []string{"spec.template.metadata.labels: Invalid value: {\"app\":\"a\"}: `selector` does not match template `labels`"}},
		{name: "pods that end", kind: "deployments", body: `{"metadata":{"name":"x","namespace":"n"},"spec":{"selector":{"matchLabels":{"app":"a"}},` + podTemplate(`,"restartPolicy":"Never"`) + `}}`,
			errs: []string{`spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`}},
		{name: "selector changed", kind: "deployments", op: schema.Update, old: deployment(""),
			body: `{"metadata":{"name":"x","namespace":"n"},"spec":{"selector":{"matchExpressions":[{"key":"app","operator":"Exists"}]},` + podTemplate("") + `}}`,
			errs: []string{`spec.selector: Invalid value: {"matchExpressions":[{"key":"app","operator":"Exists"}]}: field is immutable`}},
		{name: "scaled", kind: "deployments", op: schema.Update, old: deployment(""), body: deployment(`,"replicas":4`),
			want: map[string]string{"spec.replicas": "4", "metadata.generation": "2"}},
		{name: "counts", kind: "deployments", op: schema.UpdateStatus, old: deployment(""),
			body: counts(`"replicas":3,"updatedReplicas":2,"readyReplicas":2,"availableReplicas":2,"collisionCount":1`)},
		{name: "counts beyond all", kind: "deployments", op: schema.UpdateStatus, old: deployment(""),
			body: counts(`"replicas":1,"updatedReplicas":2,"readyReplicas":2,"availableReplicas":2`), errs: []string{
				"status.updatedReplicas: Invalid value: 2: cannot be greater than status.replicas",
				"status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas",
				"status.availableReplicas: Invalid value: 2: cannot be greater than status.replicas"}},
		{name: "available, not ready", kind: "replicasets", op: schema.UpdateStatus, old: deployment(""),
			body: counts(`"replicas":1,"availableReplicas":1`), errs: []string{
				"status.availableReplicas: Invalid value: 1: cannot be greater than readyReplicas"}},
		{name: "labels beyond all", kind: "replicasets", op: schema.UpdateStatus, old: deployment(""), body: counts(`"fullyLabeledReplicas":1`),
			errs: []string{"status.fullyLabeledReplicas: Invalid value: 1: cannot be greater than status.replicas"}},
		{name: "fewer collisions", kind: "deployments", op: schema.UpdateStatus, old: deployment(""), status: counts(`"collisionCount":2`), body: counts(`"collisionCount":1`),
			errs: []string{"status.collisionCount: Invalid value: 1: cannot be decremented"}},
		{name: "set without a selector", kind: "replicasets", body: `{"metadata":{"name":"x","namespace":"n"},"spec":{` + podTemplate("") + `}}`,
			errs: []string{"spec.selector: Required value"}},
		{name: "set", kind: "replicasets", body: deployment(""), want: map[string]string{"spec.replicas": "1", "spec.strategy": ""}},
	}
}
