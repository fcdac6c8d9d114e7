package validation

import "quorate/apiserver/objects/schema"

func newAutoscalerRows() []row {
	body := func(spec string) string {
		return named(`"spec":{` + members(`"scaleTargetRef":{"kind":"K","name":"n"},"maxReplicas":3`, spec) + `}`)
	}
	metric := func(m string) string { return body(`"metrics":[{` + m + `}]`) }
	const external = `"type":"External","external":{"metric":{"name":"m"},"target":{"type":"Value","value":"1"}}`
	return []row{
		{name: "follows cpu M20", kind: "newautoscalers", body: body(""), want: map[string]string{
			"spec.metrics":     `[{"resource":{"name":"cpu","target":{"averageUtilization":80,"type":"Utilization"}},"type":"Resource"}]`,
			"spec.minReplicas": "1", "metadata.annotations": ""}},
		{name: "metric without a stored form", kind: "newautoscalers", body: metric(external),
			want: map[string]string{"spec.metrics": `[{"external":{"metric":{"name":"m"},"target":{"type":"Value","value":"1"}},"type":"External"}]`}},
		{name: "metric of an object", kind: "newautoscalers",
			body: metric(`"type":"Object","object":{"metric":{"name":"m"},"describedObject":{"kind":"K","name":"n"},"target":{"type":"Value","value":"1"}}`)},
		{name: "metric of an object without a value", kind: "newautoscalers",
			body: metric(`"type":"Object","object":{"metric":{"name":"m"},"describedObject":{"kind":"K","name":"n"},"target":{"type":"Value","averageUtilization":1}}`),
			errs: []string{"spec.metrics[0].object.target.averageValue: Required value: must set either a target value or averageValue"}},
		{name: "metric of pods", kind: "newautoscalers", body: metric(`"type":"Pods","pods":{"metric":{"name":"m"},"target":{"type":"AverageValue","averageValue":"1"}}`)},
		{name: "metric of pods without an average", kind: "newautoscalers", body: metric(`"type":"Pods","pods":{"metric":{"name":"m"},"target":{"type":"Value","value":"1"}}`),
			errs: []string{"spec.metrics[0].pods.target.averageValue: Required value: must specify a positive target averageValue"}},
		{name: "resource without a target", kind: "newautoscalers", body: metric(`"type":"Resource","resource":{"name":"cpu","target":{"type":"Value","value":"1"}}`),
			errs: []string{"spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization"}},
		{name: "resource with two targets", kind: "newautoscalers",
			body: metric(`"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":1,"averageValue":"1"}}`),
			errs: []string{"spec.metrics[0].resource.target.averageValue: Forbidden: may not set both a target raw value and a target utilization"}},
		{name: "external with two values", kind: "newautoscalers",
			body: metric(`"type":"External","external":{"metric":{"name":"m"},"target":{"type":"Value","value":"1","averageValue":"1"}}`),
			errs: []string{"spec.metrics[0].external.target.value: Forbidden: may not set both a target value for metric and a per-pod target"}},
		{name: "behavior is completed", kind: "newautoscalers", body: body(`"behavior":{"scaleUp":{"selectPolicy":"Min"}}`), want: map[string]string{
			"spec.behavior.scaleUp": `{"policies":[{"periodSeconds":15,"type":"Pods","value":4},{"periodSeconds":15,"type":"Percent","value":100}],` +
				`"selectPolicy":"Min","stabilizationWindowSeconds":0}`,
			"spec.behavior.scaleDown": `{"policies":[{"periodSeconds":15,"type":"Percent","value":100}],"selectPolicy":"Max"}`}},
		{name: "behavior without policies", kind: "newautoscalers", body: body(`"behavior":{"scaleDown":{"policies":[]}}`),
			errs: []string{"spec.behavior.scaleDown.policies: Required value"}},
		{name: "status stays E17", kind: "newautoscalers", op: schema.Update, old: body(""), status: named(`"status":{"currentReplicas":7}`),
			body: body(`"metrics":[{` + external + `}]`), want: map[string]string{"status.currentReplicas": "7"}},
	}
}

func reportedEventRows() []row {
	const known = `"eventTime":"2018-01-02T03:04:05.000006Z","reportingController":"example.com/c","reportingInstance":"c-1","action":"Move","reason":"Moved",` +
		`"regarding":{"kind":"Pod","name":"p","namespace":"n"},"type":"Normal"`
	event := func(more string) string { return named(members(known, more)) }
	return []row{
		{name: "complete", kind: "reportedevents", body: event(""), want: map[string]string{"reportingController": `"example.com/c"`, "regarding.name": `"p"`}},
		{name: "bare", kind: "reportedevents", body: named(`"regarding":{"namespace":"n"}`),
			errs: []string{"eventTime: Required value", `type: Unsupported value: "": supported values: "Normal", "Warning"`}},
		{name: "counted as in the core group", kind: "reportedevents", body: event(`"deprecatedCount":1`), errs: []string{"deprecatedCount: Forbidden: needs to be unset"}},
		{name: "series of one", kind: "reportedevents", body: event(`"series":{"count":1}`),
			errs: []string{"series.count: Invalid value: 1: must be greater than or equal to 2", "series.lastObservedTime: Required value"}},
		{name: "series goes on", kind: "reportedevents", op: schema.Update, old: event(""), body: event(`"series":{"count":2,"lastObservedTime":"2018-01-02T03:04:06.000006Z"}`),
			want: map[string]string{"series.count": "2"}},
		{name: "other note", kind: "reportedevents", op: schema.Update, old: event(""), body: event(`"note":"x"`), errs: []string{`note: Invalid value: "x": field is immutable`}},
	}
}
