package validation

import "quorate/apiserver/objects/schema"

// newMetric converts a metric from the stored form to v2.
func newMetric(metric, to *schema.Value) {
	copyFields(metric, to, "type")
	if object := metric.Field("object"); object.IsSet() {
		made := to.Make("object")
		made.Set("describedObject", object.Field("target").Copy())
		made.Make("metric").Set("name", object.Field("metricName").Copy())
		setTarget(made, targetValue).Set("value", object.Field("targetValue").Copy())
	}
	if pods := metric.Field("pods"); pods.IsSet() {
		made := to.Make("pods")
		made.Make("metric").Set("name", pods.Field("metricName").Copy())
		setTarget(made, targetAverageValue).Set("averageValue", pods.Field("targetAverageValue").Copy())
	}
	if resource := metric.Field("resource"); resource.IsSet() {
		made := to.Make("resource")
		copyFields(resource, made, "name")
		if value := resource.Field("targetAverageValue"); value.IsSet() {
			setTarget(made, targetAverageValue).Set("averageValue", value.Copy())
		}
		if utilization := resource.Field("targetAverageUtilization"); utilization.IsSet() {
			setTarget(made, targetUtilization).Set("averageUtilization", utilization.Copy())
		}
	}
}

// newCurrentMetric converts what was measured of a metric from the stored form to v2.
func newCurrentMetric(metric, to *schema.Value) {
	copyFields(metric, to, "type")
	if object := metric.Field("object"); object.IsSet() {
		made := to.Make("object")
		made.Set("describedObject", object.Field("target").Copy())
		made.Make("metric").Set("name", object.Field("metricName").Copy())
		made.Make("current").Set("value", object.Field("currentValue").Copy())
	}
	if pods := metric.Field("pods"); pods.IsSet() {
		made := to.Make("pods")
		made.Make("metric").Set("name", pods.Field("metricName").Copy())
		made.Make("current").Set("averageValue", pods.Field("currentAverageValue").Copy())
	}
	if resource := metric.Field("resource"); resource.IsSet() {
		made := to.Make("resource")
		copyFields(resource, made, "name")
		made.Make("current").Set("averageUtilization", resource.Field("currentAverageUtilization").Copy())
		made.Make("current").Set("averageValue", resource.Field("currentAverageValue").Copy())
	}
}

// storedMetric appends a metric of v2 to the metrics of the stored form. It returns false if that
// form has no fields for the metric.
func storedMetric(metric, spec *schema.Value) bool {
	kind := metric.Field("type").Str()
	source := metric.Field(memberOf(kind))
	target := source.Field("target")
	if source.Lookup("metric", "selector").IsSet() || countSet(target, "value", "averageValue", "averageUtilization") != 1 {
		return false
	}
	for _, f := range [...]struct{ kind, target, value, stored string }{
		{"Object", targetValue, "value", "targetValue"},
		{"Pods", targetAverageValue, "averageValue", "targetAverageValue"},
		{"Resource", targetAverageValue, "averageValue", "targetAverageValue"},
		{"Resource", targetUtilization, "averageUtilization", "targetAverageUtilization"},
	} {
		if value := target.Field(f.value); kind == f.kind && target.Field("type").Str() == f.target && value.IsSet() {
			storedSource(source, kind, spec.Make("metrics")).Set(f.stored, value.Copy())
			return true
		}
	}
	return false
}

// storedCurrentMetric appends what was measured of a metric of v2 to the status of the stored form.
// It returns false if that form has no fields for it.
func storedCurrentMetric(metric, status *schema.Value) bool {
	kind := metric.Field("type").Str()
	source := metric.Field(memberOf(kind))
	current := source.Field("current")
	if source.Lookup("metric", "selector").IsSet() {
		return false
	}
	for _, f := range [...]struct {
		kind, value, stored string
		excluded            []string
	}{
		{"Object", "value", "currentValue", []string{"averageValue", "averageUtilization"}},
		{"Pods", "averageValue", "currentAverageValue", []string{"value", "averageUtilization"}},
		{"Resource", "averageValue", "currentAverageValue", []string{"value"}},
	} {
		if kind != f.kind || countSet(current, f.excluded...) > 0 || !current.Field(f.value).IsSet() {
			continue
		}
		to := storedSource(source, kind, status.Make("currentMetrics"))
		to.Set(f.stored, current.Field(f.value).Copy())
		if kind == "Resource" {
			to.Set("currentAverageUtilization", current.Field("averageUtilization").Copy())
		}
		return true
	}
	return false
}

// storedSource appends a metric to a list of the stored form and returns its member, with
// everything but its values.
func storedSource(source *schema.Value, kind string, list *schema.Value) *schema.Value {
	metric := list.Append()
	metric.Make("type").SetStr(kind)
	to := metric.Make(memberOf(kind))
	if kind == "Resource" {
		copyFields(source, to, "name")
		return to
	}
	to.Make("metricName").SetStr(source.Lookup("metric", "name").Str())
	if kind == "Object" {
		to.Set("target", source.Field("describedObject").Copy())
	}
	return to
}
