package validation

import (
	"quorate/apiserver/objects/schema"
)

// The annotations in which the stored form of autoscalers, v2beta1, keeps what only v2 has fields
// for.
const (
	otherMetricsAnnotation        = "autoscaling.platform.io/metrics"
	otherCurrentMetricsAnnotation = "autoscaling.platform.io/current-metrics"
	behaviorAnnotation            = "autoscaling.platform.io/behavior"
)

func newAutoscalerHooks() schema.Hooks {
	return schema.Hooks{
		Defaulters: map[string]schema.Defaulter{
			"cpuTarget":    cpuTarget,
			"scalingRules": scalingRules,
		},
		Validators: map[string]schema.Validator{
			"valueTarget":    valueTarget,
			"oneValueTarget": oneValueTarget,
			"averageTarget":  averageTarget,
			"resourceTarget": resourceTarget,
		},
		Converters: map[string]schema.Converter{
			"newAutoscalerToStorage":   newAutoscalerToStorage,
			"newAutoscalerFromStorage": newAutoscalerFromStorage,
		},
	}
}

// cpuTarget defaults the metrics of an autoscaler to the utilization of cpu (M20).
func cpuTarget(_ *schema.Context, m *schema.Value) {
	setTarget(addCPU(m.Make("metrics")), targetUtilization).Make("averageUtilization").SetInt(80)
}

// The types of targets.
const (
	targetUtilization  = "Utilization"
	targetValue        = "Value"
	targetAverageValue = "AverageValue"
)

// setTarget sets the type of a metric's target and returns the target.
func setTarget(metric *schema.Value, kind string) *schema.Value {
	target := metric.Make("target")
	target.Make("type").SetStr(kind)
	return target
}

// scalingPolicy is a default of how fast pods are added or removed.
type scalingPolicy struct {
	kind  string
	value int64
}

// scalingRules completes both directions of a behavior that a client sent: by default, within 15
// seconds, 4 pods or 100 % are added and 100 % are removed.
func scalingRules(_ *schema.Context, m *schema.Value) {
	up, down := m.Make("scaleUp"), m.Make("scaleDown")
	if !up.Field("stabilizationWindowSeconds").IsSet() {
		up.Make("stabilizationWindowSeconds").SetInt(0)
	}
	completeRules(up, scalingPolicy{"Pods", 4}, scalingPolicy{"Percent", 100})
	completeRules(down, scalingPolicy{"Percent", 100})
}

func completeRules(rules *schema.Value, policies ...scalingPolicy) {
	const periodSeconds = 15
	if !rules.Field("selectPolicy").IsSet() {
		rules.Make("selectPolicy").SetStr("Max")
	}
	if rules.Field("policies").IsSet() {
		return
	}
	for _, p := range policies {
		to := rules.Make("policies").Append()
		to.Make("type").SetStr(p.kind)
		to.Make("value").SetInt(p.value)
		to.Make("periodSeconds").SetInt(periodSeconds)
	}
}

func valueTarget(c *schema.Context, v *schema.Value) {
	if countSet(v.Field("target"), "value", "averageValue") == 0 {
		c.Required("must set either a target value or averageValue", "target", "averageValue")
	}
}

func oneValueTarget(c *schema.Context, v *schema.Value) {
	valueTarget(c, v)
	if countSet(v.Field("target"), "value", "averageValue") == 2 {
		c.Forbidden("may not set both a target value for metric and a per-pod target", "target", "value")
	}
}

func averageTarget(c *schema.Context, v *schema.Value) {
	if !v.Lookup("target", "averageValue").IsSet() {
		c.Required("must specify a positive target averageValue", "target", "averageValue")
	}
}

func resourceTarget(c *schema.Context, v *schema.Value) {
	switch countSet(v.Field("target"), "averageUtilization", "averageValue") {
	case 0:
		c.Required("must set either a target raw value or a target utilization", "target", "averageUtilization")
	case 2:
		c.Forbidden("may not set both a target raw value and a target utilization", "target", "averageValue")
	}
}

// otherLists are the lists of v2 whose items without a stored form are in annotations.
func otherLists() [2]heldList {
	return [...]heldList{
		{otherMetricsAnnotation, [2]string{"spec", "metrics"}},
		{otherCurrentMetricsAnnotation, [2]string{"status", "currentMetrics"}},
	}
}

// newAutoscalerFromStorage converts the stored form to v2. Annotations that do not represent fields
// stay.
func newAutoscalerFromStorage(from, to *schema.Object) {
	spec, status := to.Root().Make("spec"), to.Root().Make("status")
	copyFields(from.Field("spec"), spec, "scaleTargetRef", "minReplicas", "maxReplicas")
	copyFields(from.Field("status"), status, "observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas", "conditions")
	for _, metric := range from.Root().Lookup("spec", "metrics").Items() {
		newMetric(metric, spec.Make("metrics").Append())
	}
	for _, metric := range from.Root().Lookup("status", "currentMetrics").Items() {
		newCurrentMetric(metric, status.Make("currentMetrics").Append())
	}
	for _, held := range otherLists() {
		if text := from.Annotations().Get(held.annotation); !text.IsEmpty() && held.read(text.Str(), to) == nil {
			dropAnnotation(to, held.annotation)
		}
	}
	text := from.Annotations().Get(behaviorAnnotation)
	if text.IsEmpty() {
		return
	}
	behavior, _, err := spec.Type().Message().Field("behavior").Type.Message().Decode([]byte(text.Str()))
	if err == nil && behavior != nil {
		spec.Set("behavior", behavior)
		dropAnnotation(to, behaviorAnnotation)
	}
}

// newAutoscalerToStorage converts v2 to the stored form. Annotations that represent fields there
// have no meaning in v2, so those that a client sent are dropped.
func newAutoscalerToStorage(from, to *schema.Object) {
	spec, status := to.Root().Make("spec"), to.Root().Make("status")
	copyFields(from.Field("spec"), spec, "scaleTargetRef", "minReplicas", "maxReplicas")
	copyFields(from.Field("status"), status, "observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas", "conditions")
	var others [2][]*schema.Value
	for _, metric := range from.Root().Lookup("spec", "metrics").Items() {
		if !storedMetric(metric, spec) {
			others[0] = append(others[0], metric)
		}
	}
	for _, metric := range from.Root().Lookup("status", "currentMetrics").Items() {
		if !storedCurrentMetric(metric, status) {
			others[1] = append(others[1], metric)
		}
	}
	for i, held := range otherLists() {
		held.write(others[i], to)
	}
	dropAnnotation(to, behaviorAnnotation)
	if behavior := from.Root().Lookup("spec", "behavior"); behavior.IsSet() {
		annotate(to, behaviorAnnotation, string(behavior.AppendJSON(nil)))
	}
}
