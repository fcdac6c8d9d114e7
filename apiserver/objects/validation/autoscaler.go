package validation

import (
	"strings"

	"quorate/apiserver/objects/schema"
)

func autoscalerHooks() schema.Hooks {
	return schema.Hooks{
		Defaulters: map[string]schema.Defaulter{
			"cpuMetric": cpuMetric,
		},
		Validators: map[string]schema.Validator{
			"maxReplicasNotBelowMin": maxReplicasNotBelowMin,
			"metricOfItsType":        metricOfItsType,
			"positiveTarget":         positiveTarget,
			"oneResourceTarget":      oneResourceTarget,
		},
	}
}

// cpuMetric defaults the metrics of an autoscaler to the utilization of cpu (M20).
func cpuMetric(_ *schema.Context, m *schema.Value) {
	addCPU(m.Make("metrics")).Make("targetAverageUtilization").SetInt(80)
}

func maxReplicasNotBelowMin(c *schema.Context, v *schema.Value) {
	if least := c.Parent().Field("minReplicas"); v.Int() >= 1 && v.Int() < least.Int() {
		c.Invalid(v, "must be greater than or equal to `minReplicas`")
	}
}

// metricOfItsType requires the member of a metric that its type names, and rejects all others.
func metricOfItsType(c *schema.Context, v *schema.Value) {
	want := memberOf(v.Field("type").Str())
	if v.Type().Message().Field(want) == nil || want == "type" {
		return // the enumeration of types rejects it
	}
	if !v.Field(want).IsSet() {
		c.Required("must populate information for the given metric source", want)
	}
	for _, f := range v.Type().Message().Fields() {
		if f.Name != want && f.Name != "type" && v.Field(f.Name).IsSet() {
			c.Forbidden("must populate the given metric source only", f.Name)
		}
	}
}

// memberOf returns the member of a metric that has the information about a type: object for Object.
func memberOf(kind string) string {
	if kind == "" {
		return ""
	}
	return strings.ToLower(kind[:1]) + kind[1:]
}

// positiveTarget requires a target above zero.
func positiveTarget(c *schema.Context, v *schema.Value) {
	target := v.Quantity()
	if target.Sign() != 1 {
		c.Required("must specify a positive target value")
	}
}

func oneResourceTarget(c *schema.Context, v *schema.Value) {
	switch countSet(v, "targetAverageUtilization", "targetAverageValue") {
	case 0:
		c.Required("must set either a target raw value or a target utilization", "targetAverageUtilization")
	case 2:
		c.Forbidden("may not set both a target raw value and a target utilization", "targetAverageValue")
	}
}
