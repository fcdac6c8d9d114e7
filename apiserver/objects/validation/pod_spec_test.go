package validation

import "quorate/apiserver/objects/schema"

func podSpecRows() []row {
	return []row{
		{name: "service account by its old name M9", kind: "pods", body: pod(`"serviceAccount":"a"`),
			want: map[string]string{"spec.serviceAccount": `"a"`, "spec.serviceAccountName": `"a"`}},
		{name: "service account by its name wins M9", kind: "pods", body: pod(`"serviceAccount":"a","serviceAccountName":"b"`),
			want: map[string]string{"spec.serviceAccount": `"b"`, "spec.serviceAccountName": `"b"`}},
		{name: "no service account", kind: "pods", body: pod(""), want: map[string]string{"spec.serviceAccount": ""}},
		{name: "container names M31", kind: "pods",
			body: pod(`"containers":[{"name":"a","image":"i"},{"name":"b","image":"i"},{"name":"a","image":"i"}],"initContainers":[{"name":"c","image":"i"},{"name":"b","image":"i"}]`),
			errs: []string{`spec.containers[2].name: Duplicate value: "a"`, `spec.initContainers[1].name: Duplicate value: "b"`}},
		{name: "init containers run once", kind: "pods",
			body: pod(`"initContainers":[{"name":"i","image":"i","lifecycle":{"preStop":{"exec":{"command":["a"]}}},"readinessProbe":{"exec":{"command":["a"]}},"livenessProbe":{"exec":{"command":["a"]}}}]`),
			errs: []string{
				`spec.initContainers[0].lifecycle: Invalid value: {"preStop":{"exec":{"command":["a"]}}}: must not be set for init containers`,
				`spec.initContainers[0].livenessProbe: Invalid value: {"exec":{"command":["a"]},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3}: must not be set for init containers`,
				`spec.initContainers[0].readinessProbe: Invalid value: {"exec":{"command":["a"]},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3}: must not be set for init containers`,
			}},
		{name: "plain init containers", kind: "pods", body: pod(`"initContainers":[{"name":"i","image":"i"}]`)},
		{name: "host ports taken twice", kind: "pods",
			body: pod(`"containers":[{"name":"a","image":"i","ports":[{"containerPort":1,"hostPort":9},{"containerPort":2,"hostPort":9,"protocol":"UDP"}]},{"name":"b","image":"i","ports":[{"containerPort":1,"hostPort":9},{"containerPort":1,"hostPort":9,"hostIP":"1.2.3.4"}]}]`),
			errs: []string{`spec.containers[1].ports[0].hostPort: Duplicate value: "TCP//9"`}},
		{name: "host network takes the container's ports", kind: "pods",
			body: pod(`"hostNetwork":true,"containers":[{"name":"a","image":"i","ports":[{"containerPort":7}]}]`),
			want: map[string]string{"spec.containers[0].ports[0].hostPort": "7"}},
		{name: "without host network no port is taken", kind: "pods", body: container(`"ports":[{"containerPort":7}]`),
			want: map[string]string{"spec.containers[0].ports[0].hostPort": ""}},
		{name: "host network with other ports", kind: "pods",
			body: pod(`"hostNetwork":true,"containers":[{"name":"a","image":"i","ports":[{"containerPort":7,"hostPort":8}]}]`),
			errs: []string{"spec.containers[0].ports[0].containerPort: Invalid value: 7: must match `hostPort` when `hostNetwork` is true"}},
		{name: "mounts of volumes M32", kind: "pods",
			body: pod(`"volumes":[{"name":"v"}],"containers":[{"name":"a","image":"i","volumeMounts":[{"name":"v","mountPath":"/v"},{"name":"w","mountPath":"/w"}]}]`),
			errs: []string{`spec.containers[0].volumeMounts[1].name: Not found: "w"`}},
		{name: "mounts of claims M32", kind: "statefulsets",
			body: workload(`"selector":{"matchLabels":{"a":"b"}},"volumeClaimTemplates":[{"metadata":{"name":"w"}}]`,
				`"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"i","volumeMounts":[{"name":"w","mountPath":"/w"}]}]}`)},
		{name: "deadline", kind: "pods", body: pod(`"activeDeadlineSeconds":1`)},
		{name: "deadline at once", kind: "pods", body: pod(`"activeDeadlineSeconds":0`),
			errs: []string{"spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"}},
		{name: "deadline of templates", kind: "cronjobs", op: schema.Update, old: cronJob(`"restartPolicy":"Never"`),
			body: cronJob(`"restartPolicy":"Never","activeDeadlineSeconds":0`),
			errs: []string{"spec.jobTemplate.spec.template.spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"}},
	}
}
