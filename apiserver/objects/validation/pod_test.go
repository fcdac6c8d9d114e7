package validation

import (
	"strings"

	"quorate/apiserver/objects/schema"
)

// pod returns a pod with the fields of spec. It adds a container unless spec contains one.
func pod(spec string) string {
	if !strings.Contains(spec, `"containers"`) {
		spec = members(`"containers":[{"name":"c","image":"i:1"}]`, spec)
	}
	return named(`"spec":{` + spec + `}`)
}

// container returns a pod with one container that has the given fields in addition to name and
// image.
func container(with string) string {
	return pod(`"containers":[{` + members(`"name":"c","image":"i:1"`, with) + `}]`)
}

func podRows() []row {
	resources := func(spec string) string { return container(`"resources":{` + spec + `}`) }
	return []row{
		{name: "new is pending whatever it says A58 M6", kind: "pods",
			body: named(`"spec":{"containers":[{"name":"c","image":"i"}]},"status":{"phase":"Running","podIP":"1.2.3.4"}`),
			want: map[string]string{"status": `{"phase":"Pending","qosClass":"BestEffort"}`}},
		{name: "defaults M9", kind: "pods", body: container(`"ports":[{"containerPort":1}],"readinessProbe":{"exec":{"command":["a"]}}`),
			want: map[string]string{
				"spec.restartPolicy": `"Always"`, "spec.dnsPolicy": `"ClusterFirst"`, "spec.terminationGracePeriodSeconds": "30",
				"spec.schedulerName": `"default-scheduler"`, "spec.securityContext": "{}",
				"spec.containers[0].terminationMessagePath": `"/dev/termination-log"`,
				"spec.containers[0].ports[0]":               `{"containerPort":1,"protocol":"TCP"}`,
				"spec.containers[0].readinessProbe":         `{"exec":{"command":["a"]},"failureThreshold":3,"periodSeconds":10,"successThreshold":1,"timeoutSeconds":1}`,
			}},
		{name: "limits alone are guaranteed M7", kind: "pods", body: resources(`"limits":{"cpu":"1","memory":"1Gi"}`),
			want: map[string]string{"status.qosClass": `"Guaranteed"`, "spec.containers[0].resources.requests": `{"cpu":"1","memory":"1Gi"}`}},
		{name: "requests of their own stay M7", kind: "pods", body: resources(`"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"500m"}`),
			want: map[string]string{"status.qosClass": `"Burstable"`, "spec.containers[0].resources.requests": `{"cpu":"500m","memory":"1Gi"}`}},
		{name: "equal amounts in other words are guaranteed M7 M25", kind: "pods",
			body: resources(`"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1000m","memory":"1024Mi"}`),
			want: map[string]string{"status.qosClass": `"Guaranteed"`}},
		{name: "requests alone are burstable M7", kind: "pods", body: resources(`"requests":{"memory":"1Gi"}`),
			want: map[string]string{"status.qosClass": `"Burstable"`}},
		{name: "other resources don't count M7", kind: "pods", body: resources(`"limits":{"ephemeral-storage":"1Gi"}`),
			want: map[string]string{"status.qosClass": `"BestEffort"`}},
		{name: "init containers count M7", kind: "pods",
			body: pod(`"initContainers":[{"name":"i","image":"i:1"}],"containers":[{"name":"c","image":"i:1","resources":{"limits":{"cpu":"1","memory":"1"}}}]`),
			want: map[string]string{"status.qosClass": `"Burstable"`}},
		{name: "requests of templates stay as given", kind: "daemonsets",
			body: workload(`"selector":{"matchLabels":{"a":"b"}}`, `"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1"}}}]}`),
			want: map[string]string{"spec.template.spec.containers[0].resources": `{"limits":{"cpu":"1"}}`}},
	}
}

func podUpdateRows() []row {
	const forbidden = "spec: Forbidden: " + podUpdateForbidden
	const twoInits = `"initContainers":[{"name":"i","image":"i:1"}]`
	update := func(name, old, spec string, errs ...string) row {
		return row{name: name, kind: "pods", op: schema.Update, old: pod(old), body: pod(spec), errs: errs}
	}
	const toleration = `{"key":"k","operator":"Exists","effect":"NoExecute"`
	return []row{
		update("unchanged E20", `"hostname":"h"`, `"hostname":"h"`),
		{name: "images change E22", kind: "pods", op: schema.Update, old: pod(twoInits),
			body: pod(`"initContainers":[{"name":"i","image":"i:2"}],"containers":[{"name":"c","image":"i:3","imagePullPolicy":"IfNotPresent"}]`),
			want: map[string]string{"spec.initContainers[0].image": `"i:2"`, "spec.containers[0].image": `"i:3"`}},
		{name: "status stays E17", kind: "pods", op: schema.Update, old: pod(""),
			body: named(`"spec":{"containers":[{"name":"c","image":"i:1"}]},"status":{"phase":"Failed"}`),
			want: map[string]string{"status.phase": `"Pending"`, "status.qosClass": `"BestEffort"`}},
		{name: "spec and owners stay on status", kind: "pods", op: schema.UpdateStatus, old: pod(""),
			body: `{"metadata":{"name":"x","namespace":"n","ownerReferences":[` + owner("u") + `]},"spec":{"containers":[]},"status":{"phase":"Running"}}`,
			want: map[string]string{"status": `{"phase":"Running"}`, "spec.containers[0].name": `"c"`, "metadata.ownerReferences": ""}},
		update("other fields stay E22", "", `"hostname":"h"`, forbidden),
		update("node name stays E22", "", `"nodeName":"h"`, forbidden),
		update("a container's other fields stay E22", "", `"containers":[{"name":"c","image":"i:1","tty":true}]`, forbidden),
		update("containers don't come E22", "", `"containers":[{"name":"c","image":"i:1"},{"name":"d","image":"i:1"}]`,
			"spec.containers: Forbidden: pod updates may not add or remove containers"),
		update("init containers don't go E22", twoInits, "", "spec.initContainers: Forbidden: pod updates may not add or remove containers"),
		update("deadline set E22", "", `"activeDeadlineSeconds":9`),
		update("deadline lowered E22", `"activeDeadlineSeconds":9`, `"activeDeadlineSeconds":8`),
		update("deadline now E22", `"activeDeadlineSeconds":9`, `"activeDeadlineSeconds":0`),
		update("deadline raised E22", `"activeDeadlineSeconds":9`, `"activeDeadlineSeconds":10`,
			"spec.activeDeadlineSeconds: Invalid value: 10: must be less than or equal to previous value"),
		update("deadline removed E22", `"activeDeadlineSeconds":9`, "",
			"spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value"),
		update("tolerations come E22", "", `"tolerations":[`+toleration+`}]`),
		update("toleration seconds change E22", `"tolerations":[`+toleration+`,"tolerationSeconds":1}]`,
			`"tolerations":[`+toleration+`,"tolerationSeconds":2}]`),
		update("tolerations stay E22", `"tolerations":[`+toleration+`}]`, `"tolerations":[{"key":"k","operator":"Exists"}]`,
			"spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"),
	}
}
