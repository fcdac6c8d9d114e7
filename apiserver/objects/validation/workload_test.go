package validation

import (
	"strings"

	"quorate/apiserver/objects/schema"
)

// workload returns the body of an object with a template. spec and template are additional members
// of the two.
func workload(spec, template string) string {
	return named(`"spec":{` + members(spec, `"template":{`+template+`}`) + `}`)
}

// daemonSet returns a workload whose template has a container.
func daemonSet(spec, meta string) string {
	return workload(spec, members(meta, `"spec":{"containers":[{"name":"c","image":"i"}]}`))
}

const (
	selectsAB  = `"selector":{"matchLabels":{"a":"b"}}`
	labelledAB = `"metadata":{"labels":{"a":"b"}}`
)

func daemonSetRows() []row {
	body := func(spec string) string { return daemonSet(members(selectsAB, spec), labelledAB) }
	selecting := func(selector string) string { return daemonSet(`"selector":{`+selector+`}`, labelledAB) }
	podSpec := func(spec string) string {
		return workload(selectsAB, labelledAB+`,"spec":{"containers":[{"name":"c","image":"i"}],`+spec+`}`)
	}
	const mismatch = `spec.template.metadata.labels: Invalid value: {"a":"b"}: ` + "`selector` does not match template `labels`"
	unavailable := func(name, max string, errs ...string) row {
		return row{name: name + " M21", kind: "daemonsets", body: body(`"updateStrategy":{"rollingUpdate":{"maxUnavailable":` + max + `}}`), errs: errs}
	}
	const maxUnavailable = "spec.updateStrategy.rollingUpdate.maxUnavailable: "
	return []row{
		{name: "defaults M21", kind: "daemonsets", body: body(""), want: map[string]string{
			"spec.updateStrategy":       `{"rollingUpdate":{"maxUnavailable":1},"type":"RollingUpdate"}`,
			"spec.revisionHistoryLimit": "10", "metadata.generation": "1",
		}},
		{name: "on delete without settings", kind: "daemonsets", body: body(`"updateStrategy":{"type":"OnDelete"}`),
			want: map[string]string{"spec.updateStrategy": `{"type":"OnDelete"}`}},
		{name: "new has no status A58", kind: "daemonsets", body: strings.TrimSuffix(body(""), "}") + `,"status":{"numberReady":7}}`,
			want: map[string]string{"status.numberReady": "0"}},
		{name: "status stays, spec counts E17 E19", kind: "daemonsets", op: schema.Update, old: body(""),
			body: strings.TrimSuffix(body(`"minReadySeconds":1`), "}") + `,"status":{"numberReady":7}}`,
			want: map[string]string{"status.numberReady": "0", "spec.minReadySeconds": "1", "metadata.generation": "2"}},
		{name: "unchanged spec doesn't count E19", kind: "daemonsets", op: schema.Update, old: body(""), body: body(`"revisionHistoryLimit":10`),
			want: map[string]string{"metadata.generation": "1"}},
		{name: "spec stays on status", kind: "daemonsets", op: schema.UpdateStatus, old: body(""), body: named(`"status":{"numberReady":7}`),
			want: map[string]string{"status.numberReady": "7", "metadata.generation": "1", "spec.revisionHistoryLimit": "10"}},
		{name: "selector of everything M21", kind: "daemonsets", body: selecting(`"matchLabels":{}`),
			errs: []string{`spec.selector: Invalid value: {}: empty selector is invalid for daemonset`}},
		{name: "selector of other values M21", kind: "daemonsets", body: selecting(`"matchLabels":{"a":"c"}`), errs: []string{mismatch}},
		{name: "selector of other keys M21", kind: "daemonsets", body: selecting(`"matchExpressions":[{"key":"c","operator":"Exists"}]`), errs: []string{mismatch}},
		{name: "selector without the key M21", kind: "daemonsets", body: selecting(`"matchExpressions":[{"key":"a","operator":"DoesNotExist"}]`), errs: []string{mismatch}},
		{name: "selector of a list M21", kind: "daemonsets", body: selecting(`"matchExpressions":[{"key":"a","operator":"In","values":["b","c"]},{"key":"z","operator":"NotIn","values":["y"]}]`)},
		{name: "selector of another list M21", kind: "daemonsets", body: selecting(`"matchExpressions":[{"key":"a","operator":"In","values":["c"]}]`), errs: []string{mismatch}},
		{name: "selector but for a list M21", kind: "daemonsets", body: selecting(`"matchExpressions":[{"key":"a","operator":"NotIn","values":["b"]}]`), errs: []string{mismatch}},
		{name: "selector changes E24", kind: "daemonsets", op: schema.Update, old: body(""), body: selecting(`"matchExpressions":[{"key":"a","operator":"Exists"}]`),
			errs: []string{`spec.selector: Invalid value: {"matchExpressions":[{"key":"a","operator":"Exists"}]}: field is immutable`}},
		{name: "pods that end M21", kind: "daemonsets", body: podSpec(`"restartPolicy":"Never","activeDeadlineSeconds":1`), errs: []string{
			`spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`,
			"spec.template.spec.activeDeadlineSeconds: Invalid value: 1: must not be set"}},
		unavailable("two unavailable", "2"),
		unavailable("half unavailable", `"50%"`),
		unavailable("none unavailable", "0", maxUnavailable+"Invalid value: 0: cannot be 0"),
		unavailable("no part unavailable", `"0%"`, maxUnavailable+`Invalid value: "0%": cannot be 0`),
		unavailable("more than all unavailable", `"101%"`, maxUnavailable+`Invalid value: "101%": must not be greater than 100%`),
		unavailable("far more than all unavailable", `"99999999999999999999%"`, maxUnavailable+`Invalid value: "99999999999999999999%": must not be greater than 100%`),
		unavailable("words unavailable", `"some"`, maxUnavailable+`Invalid value: "some": must be an integer or percentage (e.g '5%')`),
		{name: "collisions grow", kind: "daemonsets", op: schema.UpdateStatus, old: body(""),
			status: named(`"status":{"collisionCount":1}`), body: named(`"status":{"collisionCount":2}`)},
		{name: "collisions are not forgotten", kind: "daemonsets", op: schema.UpdateStatus, old: body(""),
			status: named(`"status":{"collisionCount":1}`), body: named(`"status":{}`),
			errs: []string{"status.collisionCount: Invalid value: 0: cannot be decremented"}},
	}
}

func statefulSetRows() []row {
	body := func(spec string) string { return daemonSet(members(selectsAB, spec), labelledAB) }
	changed := func(name, spec string) row {
		return row{name: name + " changes E23", kind: "statefulsets", op: schema.Update, old: body(""), body: body(spec),
			errs: []string{"spec: Forbidden: " + statefulSetUpdateForbidden}}
	}
	const rolling = "spec.updateStrategy"
	return []row{
		{name: "defaults M22 M24", kind: "statefulsets", body: body(`"volumeClaimTemplates":[{"metadata":{"name":"v"}}]`), want: map[string]string{
			"spec.replicas": "1", "spec.podManagementPolicy": `"OrderedReady"`, "spec.revisionHistoryLimit": "10", "spec.serviceName": `""`,
			rolling: `{"rollingUpdate":{"partition":0},"type":"RollingUpdate"}`, "metadata.generation": "1",
			"spec.volumeClaimTemplates[0].status.phase": `"Pending"`,
		}},
		{name: "rolling update without settings", kind: "statefulsets", body: body(`"updateStrategy":{"type":"RollingUpdate"}`),
			want: map[string]string{rolling: `{"type":"RollingUpdate"}`}},
		{name: "partition of no type", kind: "statefulsets", body: body(`"updateStrategy":{"rollingUpdate":{"partition":2}}`),
			want: map[string]string{rolling: `{"rollingUpdate":{"partition":2},"type":"RollingUpdate"}`}},
		{name: "rolling update with empty settings", kind: "statefulsets", body: body(`"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{}}`),
			want: map[string]string{rolling: `{"rollingUpdate":{"partition":0},"type":"RollingUpdate"}`}},
		{name: "settings of another strategy", kind: "statefulsets", body: body(`"updateStrategy":{"type":"OnDelete","rollingUpdate":{}}`),
			errs: []string{"spec.updateStrategy.rollingUpdate: Invalid value: {}: only allowed for updateStrategy 'RollingUpdate'"}},
		{name: "selector of everything", kind: "statefulsets", body: daemonSet(`"selector":{}`, labelledAB),
			errs: []string{"spec.selector: Invalid value: {}: empty selector is invalid for statefulset"}},
		{name: "mutable E23", kind: "statefulsets", op: schema.Update, old: body(""),
			body: workload(selectsAB+`,"replicas":2,"updateStrategy":{"type":"OnDelete"}`, labelledAB+`,"spec":{"containers":[{"name":"d","image":"j"}]}`),
			want: map[string]string{"spec.replicas": "2", "metadata.generation": "2", rolling: `{"type":"OnDelete"}`}},
		changed("service", `"serviceName":"s"`),
		changed("history", `"revisionHistoryLimit":3`),
		changed("policy", `"podManagementPolicy":"Parallel"`),
		changed("claims", `"volumeClaimTemplates":[{"metadata":{"name":"v"}}]`),
		{name: "status of parts", kind: "statefulsets", op: schema.UpdateStatus, old: body(""),
			body: named(`"status":{"replicas":2,"readyReplicas":2}`), want: map[string]string{"status.readyReplicas": "2"}},
		{name: "status of more than all", kind: "statefulsets", op: schema.UpdateStatus, old: body(""),
			body: named(`"status":{"replicas":2,"readyReplicas":3,"currentReplicas":2,"updatedReplicas":4}`),
			errs: []string{"status.readyReplicas: Invalid value: 3: cannot be greater than status.replicas",
				"status.updatedReplicas: Invalid value: 4: cannot be greater than status.replicas"}},
	}
}
