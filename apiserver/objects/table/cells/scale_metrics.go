package cells

import (
	"strings"

	"quorate/apiserver/objects/schema"
)

func autoscalingTexts() map[string]func(s *Source) string {
	return map[string]func(s *Source) string{"scaleTarget": scaleTarget, "scaleMetrics": scaleMetrics}
}

func scaleTarget(s *Source) string {
	target := s.Object.Lookup("spec", "scaleTargetRef")
	return target.Field("kind").Str() + "/" + target.Field("name").Str()
}

const (
	// shownMetrics is the maximum number of metrics in a cell.
	shownMetrics = 2

	unknown = "<unknown>"
	auto    = "<auto>"
)

// scaleMetrics returns the current and target value of each metric. autoscaling/v2beta1 keeps them
// in the metric, v2 in its members target and current, and v1 has one metric in fields of its own.
func scaleMetrics(s *Source) string {
	spec, status := s.Object.Field("spec"), s.Object.Field("status")
	if cpu := spec.Field("targetCPUUtilizationPercentage"); cpu.IsSet() {
		return orElse(percent(status.Field("currentCPUUtilizationPercentage")), unknown) + "/" + percent(cpu)
	}
	var all []string
	now := status.Field("currentMetrics")
	for i, metric := range spec.Field("metrics").Items() {
		kind := metric.Field("type").Str()
		member := strings.ToLower(kind[:min(1, len(kind))]) + kind[min(1, len(kind)):]
		all = append(all, figures(metric.Field(member), now.At(i).Field(member)))
	}
	return few(all, shownMetrics, ", ")
}

// figures returns the current and the target value of a metric.
func figures(target, current *schema.Value) string {
	value := first(target, "targetAverageValue", "averageValue")
	if value == nil {
		value = first(target, "targetValue", "value")
	}
	if value != nil {
		is := first(current, "currentAverageValue", "averageValue")
		if is == nil {
			is = first(current, "currentValue", "value")
		}
		return orElse(is.Str(), unknown) + "/" + value.Str()
	}
	utilization := first(target, "targetAverageUtilization", "averageUtilization")
	is := first(current, "currentAverageUtilization", "averageUtilization")
	return orElse(percent(is), unknown) + "/" + orElse(percent(utilization), auto)
}

// first returns a value that is in field early of a metric in one version, and in field late of its
// member target or current in a later version.
func first(metric *schema.Value, early, late string) *schema.Value {
	for _, v := range []*schema.Value{metric.Field(early), metric.Lookup("target", late), metric.Lookup("current", late)} {
		if v.IsSet() {
			return v
		}
	}
	return nil
}

func percent(v *schema.Value) string {
	if v == nil {
		return ""
	}
	return Text(v) + "%"
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
