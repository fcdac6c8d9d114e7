package validation

import (
	"fmt"
	"strconv"
	"strings"

	"quorate/apiserver/objects/schema"
)

func oldAutoscalerRows() []row {
	const target = `"scaleTargetRef":{"kind":"K","name":"n"},"maxReplicas":3`
	const note = "metadata.annotations"
	body := func(annotations, spec, status string) string {
		return `{"metadata":{"name":"x","namespace":"n","annotations":{` + annotations + `}},"spec":{` + members(target, spec) + `},"status":{` + status + `}}`
	}
	held := func(name, list string) string { return strconv.Quote(name) + ":" + strconv.Quote(list) }
	text := func(name, list string) string { return fmt.Sprintf(`{%s}`, held(name, list)) }
	const (
		pods    = `[{"type":"Pods","pods":{"metricName":"m","targetAverageValue":"1"}}]`
		cpu     = `[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":7,"currentAverageValue":"1m"}}]`
		limited = `[{"type":"ScalingLimited","status":"True","lastTransitionTime":null}]`
	)
	return []row{
		{name: "follows cpu M20", kind: "oldautoscalers", body: body("", "", ""),
			want: map[string]string{"spec.targetCPUUtilizationPercentage": "80", "spec.minReplicas": "1", note: ""}},
		{name: "target stays", kind: "oldautoscalers", body: body("", `"targetCPUUtilizationPercentage":5`, ""),
			want: map[string]string{"spec.targetCPUUtilizationPercentage": "5", note: ""}},
		{name: "other metrics alone", kind: "oldautoscalers", body: body(held(metricsAnnotation, pods), "", ""),
			want: map[string]string{"spec.targetCPUUtilizationPercentage": "", note: text(metricsAnnotation, pods)}},
		{name: "other metrics too", kind: "oldautoscalers", body: body(held(metricsAnnotation, pods), `"targetCPUUtilizationPercentage":5`, ""),
			want: map[string]string{"spec.targetCPUUtilizationPercentage": "5", note: text(metricsAnnotation, pods)}},
		{name: "no metrics in the annotation", kind: "oldautoscalers", body: body(held(metricsAnnotation, "[]"), "", ""),
			want: map[string]string{"spec.targetCPUUtilizationPercentage": "80", note: ""}},
		{name: "no JSON in the annotation", kind: "oldautoscalers", body: body(held(metricsAnnotation, "{"), "", ""),
			errs: []string{`metadata.annotations[autoscaling.alpha.kubernetes.io/metrics]: Invalid value: "{": must be a JSON list: unexpected end of JSON input`}},
		{name: "null in the annotation", kind: "oldautoscalers", body: body(held(metricsAnnotation, "[null]"), "", ""),
			errs: []string{`metadata.annotations[autoscaling.alpha.kubernetes.io/metrics]: Invalid value: "[null]": item 0: must be a MetricSpec`}},
		{name: "wrong metric in the annotation M20", kind: "oldautoscalers", body: body(held(metricsAnnotation, `[{"type":"Pods"}]`), "", ""),
			errs: []string{`metadata.annotations[autoscaling.alpha.kubernetes.io/metrics]: Invalid value: "[{\"type\":\"Pods\"}]": ` +
				"spec.metrics[0].pods: Required value: must populate information for the given metric source"}},
		{name: "most below least M20", kind: "oldautoscalers", body: body("", `"minReplicas":4`, ""),
			errs: []string{"spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`"}},
		{name: "new has no status A58", kind: "oldautoscalers", body: body(held(conditionsAnnotation, limited), "", `"currentReplicas":7`),
			want: map[string]string{"status.currentReplicas": "0", note: ""}},
		{name: "status stays E17", kind: "oldautoscalers", op: schema.Update, old: body("", "", ""),
			status: body(held(conditionsAnnotation, limited), "", `"currentReplicas":7`), body: body(held(conditionsAnnotation, "[]"), "", `"currentReplicas":8`),
			want: map[string]string{"status.currentReplicas": "7", note: text(conditionsAnnotation, limited)}},
		{name: "spec stays on status", kind: "oldautoscalers", op: schema.UpdateStatus, old: body(held(metricsAnnotation, pods), "", ""),
			body: body(held(currentMetricsAnnotation, cpu), `"minReplicas":2`, `"currentCPUUtilizationPercentage":9`),
			want: map[string]string{"spec.minReplicas": "1", "status.currentCPUUtilizationPercentage": "9",
				note: fmt.Sprintf("{%s,%s}", held(currentMetricsAnnotation, strings.Replace(cpu, "7", "9", 1)), held(metricsAnnotation, pods))}},
		{name: "use of cpu without an annotation", kind: "oldautoscalers", op: schema.UpdateStatus, old: body("", "", ""),
			body: body("", "", `"currentCPUUtilizationPercentage":9`), want: map[string]string{"status.currentCPUUtilizationPercentage": "9"}},
	}
}
