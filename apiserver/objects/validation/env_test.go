package validation

func envRows() []row {
	env := func(v string) string { return container(`"env":[{"name":"A",` + v + `}]`) }
	from := func(v string) string { return container(`"envFrom":[{` + v + `}]`) }
	downward := func(v string) string {
		return pod(`"volumes":[{"name":"v","downwardAPI":{"items":[{"path":"p",` + v + `}]}}]`)
	}
	const sources = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
	return []row{
		{name: "value", kind: "pods", body: env(`"value":"a"`)},
		{name: "one source", kind: "pods", body: env(`"valueFrom":{"fieldRef":{"fieldPath":"status.podIP"}}`),
			want: map[string]string{"spec.containers[0].env[0].valueFrom.fieldRef.apiVersion": `"v1"`}},
		{name: "no source", kind: "pods", body: env(`"valueFrom":{}`),
			errs: []string{`spec.containers[0].env[0].valueFrom: Invalid value: "": must specify one of: ` + sources}},
		{name: "value and source", kind: "pods", body: env(`"value":"a","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}`),
			errs: []string{`spec.containers[0].env[0].valueFrom: Invalid value: "": may not be specified when ` + "`value` is not empty"}},
		{name: "two sources", kind: "pods",
			body: env(`"valueFrom":{"secretKeyRef":{"name":"a","key":"b"},"fieldRef":{"fieldPath":"metadata.name"}}`),
			errs: []string{`spec.containers[0].env[0].valueFrom: Invalid value: "": may not have more than one field specified at a time`}},
		{name: "all of one", kind: "pods", body: from(`"configMapRef":{"name":"a"}`)},
		{name: "all of none", kind: "pods", body: from(`"prefix":"a"`),
			errs: []string{"spec.containers[0].envFrom[0]: Invalid value: \"\": must specify one of: `configMapRef` or `secretRef`"}},
		{name: "all of two", kind: "pods", body: from(`"configMapRef":{"name":"a"},"secretRef":{"name":"a"}`),
			errs: []string{`spec.containers[0].envFrom[0]: Invalid value: "": may not have more than one field specified at a time`}},
		{name: "field for volumes in a variable", kind: "pods", body: env(`"valueFrom":{"fieldRef":{"fieldPath":"metadata.labels"}}`),
			errs: []string{`spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "metadata.labels": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.podIP"`}},
		{name: "field for variables in a volume", kind: "pods", body: downward(`"fieldRef":{"fieldPath":"status.podIP"}`),
			errs: []string{`spec.volumes[0].downwardAPI.items[0].fieldRef.fieldPath: Unsupported value: "status.podIP": supported values: "metadata.name", "metadata.namespace", "metadata.labels", "metadata.annotations", "metadata.uid"`}},
		{name: "field in a volume", kind: "pods", body: downward(`"fieldRef":{"fieldPath":"metadata.labels"}`)},
		{name: "field that is none", kind: "pods", body: env(`"valueFrom":{"fieldRef":{"fieldPath":"spec.color"}}`),
			errs: []string{`spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.color": error converting fieldPath: field label not supported: spec.color`}},
		{name: "resource of the own container", kind: "pods", body: env(`"valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":"1m"}}`)},
		{name: "resource of a container in a volume", kind: "pods",
			body: downward(`"resourceFieldRef":{"containerName":"c","resource":"limits.memory","divisor":"1Mi"}`)},
		{name: "resource of nobody in a volume", kind: "pods", body: downward(`"resourceFieldRef":{"resource":"limits.cpu"}`),
			errs: []string{"spec.volumes[0].downwardAPI.items[0].resourceFieldRef.containerName: Required value"}},
		{name: "divisor of bytes for cpu", kind: "pods", body: env(`"valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":"1Ki"}}`),
			errs: []string{`spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource`}},
		{name: "divisor of cpu for bytes", kind: "pods", body: env(`"valueFrom":{"resourceFieldRef":{"resource":"requests.memory","divisor":"1m"}}`),
			errs: []string{`spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "requests.memory": only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the memory resource`}},
		{name: "divisor of odd size for storage", kind: "pods", body: env(`"valueFrom":{"resourceFieldRef":{"resource":"requests.ephemeral-storage","divisor":"7"}}`),
			errs: []string{`spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "requests.ephemeral-storage": only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the local ephemeral storage resource`}},
	}
}
