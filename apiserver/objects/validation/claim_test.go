package validation

import "quorate/apiserver/objects/schema"

func claim(size, spec string) string {
	return `{"metadata":{"name":"x","namespace":"n"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"` + size + `"}}` + spec + `}}`
}

const bound = `{"metadata":{"name":"x","namespace":"n"},"status":{"phase":"Bound"}}`

func claimRows() []row {
	return []row{
		{name: "defaults", kind: "persistentvolumeclaims", body: claim("1Gi", ""), want: map[string]string{"status.phase": `"Pending"`, "spec.volumeMode": `"Filesystem"`}},
		{name: "asks for nothing", kind: "persistentvolumeclaims", body: `{"metadata":{"name":"x","namespace":"n"},"spec":{}}`, errs: []string{
			"spec.accessModes: Required value: at least 1 access mode is required", "spec.resources[storage]: Required value"}},
		{name: "asks for no space", kind: "persistentvolumeclaims", body: claim("0", ""),
			errs: []string{`spec.resources.requests[storage]: Invalid value: "0": must be greater than zero`}},
		{name: "for one pod and many", kind: "persistentvolumeclaims",
			body: `{"metadata":{"name":"x","namespace":"n"},"spec":{"accessModes":["ReadWriteOncePod","ReadOnlyMany"],"resources":{"requests":{"storage":"1Gi"}}}}`,
			errs: []string{"spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"}},
		{name: "is given a volume", kind: "persistentvolumeclaims", op: schema.Update, old: claim("1Gi", ""), body: claim("1Gi", `,"volumeName":"v"`)},
		{name: "is given another volume", kind: "persistentvolumeclaims", op: schema.Update, old: claim("1Gi", `,"volumeName":"v"`), body: claim("1Gi", `,"volumeName":"w"`),
			errs: []string{"spec: Forbidden: " + claimUpdateForbidden}},
		{name: "grows before it is bound", kind: "persistentvolumeclaims", op: schema.Update, old: claim("1Gi", ""), body: claim("2Gi", ""),
			errs: []string{"spec: Forbidden: " + claimUpdateForbidden}},
		{name: "grows", kind: "persistentvolumeclaims", op: schema.Update, old: claim("1Gi", ""), status: bound, body: claim("2Gi", "")},
		{name: "shrinks", kind: "persistentvolumeclaims", op: schema.Update, old: claim("2Gi", ""), status: bound, body: claim("1Gi", ""),
			errs: []string{"spec.resources.requests.storage: Forbidden: field can not be less than previous value"}},
		{name: "changes its attributes", kind: "persistentvolumeclaims", op: schema.Update, old: claim("1Gi", ""), status: bound, body: claim("1Gi", `,"volumeAttributesClassName":"gold"`)},
		{name: "budget", kind: "poddisruptionbudgets", body: `{"metadata":{"name":"x","namespace":"n"},"spec":{"minAvailable":"50%"}}`, want: map[string]string{"spec.minAvailable": `"50%"`}},
		{name: "budget with two bounds", kind: "poddisruptionbudgets", body: `{"metadata":{"name":"x","namespace":"n"},"spec":{"minAvailable":1,"maxUnavailable":"101%"}}`, errs: []string{
			`spec: Invalid value: {"minAvailable":1,"maxUnavailable":"101%"}: minAvailable and maxUnavailable cannot be both set`,
			`spec.maxUnavailable: Invalid value: "101%": must not be greater than 100%`}},
		{name: "class of storage", kind: "storageclasses", body: `{"metadata":{"name":"x"},"provisioner":"example.com/disks"}`,
			want: map[string]string{"reclaimPolicy": `"Delete"`, "volumeBindingMode": `"Immediate"`}},
		{name: "class of another provisioner", kind: "storageclasses", op: schema.Update, old: `{"metadata":{"name":"x"},"provisioner":"a"}`, body: `{"metadata":{"name":"x"},"provisioner":"b"}`,
			errs: []string{`provisioner: Invalid value: "b": field is immutable`}},
		{name: "priority", kind: "priorityclasses", body: `{"metadata":{"name":"x"},"value":1000000000}`, want: map[string]string{"preemptionPolicy": `"PreemptLowerPriority"`}},
		{name: "priority of the system", kind: "priorityclasses", body: `{"metadata":{"name":"system-node-critical"},"value":2000001000}`},
		{name: "priority like the system's", kind: "priorityclasses", body: `{"metadata":{"name":"x"},"value":1000000001}`,
			errs: []string{"value: Forbidden: maximum allowed value of a user defined priority is 1000000000"}},
		{name: "name like the system's", kind: "priorityclasses", body: `{"metadata":{"name":"system-x"},"value":1}`,
			errs: []string{"metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only"}},
	}
}
