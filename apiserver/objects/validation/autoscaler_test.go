package validation

import "quorate/apiserver/objects/schema"

func autoscalerRows() []row {
	body := func(spec string) string {
		return named(`"spec":{` + members(`"scaleTargetRef":{"kind":"K","name":"n"},"maxReplicas":3`, spec) + `}`)
	}
	metric := func(m string) string { return body(`"metrics":[{` + m + `}]`) }
	return []row{
		{name: "follows cpu M20", kind: "horizontalpodautoscalers", body: body(""), want: map[string]string{
			"spec.metrics": `[{"resource":{"name":"cpu","targetAverageUtilization":80},"type":"Resource"}]`, "spec.minReplicas": "1"}},
		{name: "new has no status A58", kind: "horizontalpodautoscalers",
			body: named(`"spec":{"scaleTargetRef":{"kind":"K","name":"n"},"maxReplicas":3},"status":{"currentReplicas":7}`),
			want: map[string]string{"status.currentReplicas": "0"}},
		{name: "status stays E17", kind: "horizontalpodautoscalers", op: schema.Update, old: body(""),
			body: named(`"spec":{"scaleTargetRef":{"kind":"K","name":"n"},"maxReplicas":4},"status":{"currentReplicas":7}`),
			want: map[string]string{"status.currentReplicas": "0", "spec.maxReplicas": "4", "metadata.generation": ""}},
		{name: "spec stays on status", kind: "horizontalpodautoscalers", op: schema.UpdateStatus, old: body(""),
			body: named(`"status":{"currentReplicas":7}`),
			want: map[string]string{"status.currentReplicas": "7", "spec.maxReplicas": "3"}},
		{name: "most below least M20", kind: "horizontalpodautoscalers", body: body(`"minReplicas":4`),
			errs: []string{"spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`"}},
		{name: "most is least M20", kind: "horizontalpodautoscalers", body: body(`"minReplicas":3`)},
		{name: "metric without its member M20", kind: "horizontalpodautoscalers", body: metric(`"type":"Pods"`),
			errs: []string{"spec.metrics[0].pods: Required value: must populate information for the given metric source"}},
		{name: "metric with another's member M20", kind: "horizontalpodautoscalers",
			body: metric(`"type":"Pods","pods":{"metricName":"m","targetAverageValue":"1"},"resource":{"name":"cpu","targetAverageUtilization":1}`),
			errs: []string{"spec.metrics[0].resource: Forbidden: must populate the given metric source only"}},
		{name: "metric of an object M20", kind: "horizontalpodautoscalers",
			body: metric(`"type":"Object","object":{"metricName":"m","target":{"kind":"K","name":"n"},"targetValue":"1k"}`)},
		{name: "target below nothing M20", kind: "horizontalpodautoscalers", body: metric(`"type":"Pods","pods":{"metricName":"m","targetAverageValue":"-1"}`),
			errs: []string{"spec.metrics[0].pods.targetAverageValue: Required value: must specify a positive target value"}},
		{name: "target of nothing M20", kind: "horizontalpodautoscalers", body: metric(`"type":"Resource","resource":{"name":"cpu","targetAverageValue":"0"}`),
			errs: []string{"spec.metrics[0].resource.targetAverageValue: Required value: must specify a positive target value"}},
		{name: "resource without a target M20", kind: "horizontalpodautoscalers", body: metric(`"type":"Resource","resource":{"name":"cpu"}`),
			errs: []string{"spec.metrics[0].resource.targetAverageUtilization: Required value: must set either a target raw value or a target utilization"}},
		{name: "resource with two targets M20", kind: "horizontalpodautoscalers",
			body: metric(`"type":"Resource","resource":{"name":"cpu","targetAverageValue":"1","targetAverageUtilization":1}`),
			errs: []string{"spec.metrics[0].resource.targetAverageValue: Forbidden: may not set both a target raw value and a target utilization"}},
	}
}
