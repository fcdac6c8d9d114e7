package validation

import (
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
	want := ""
	switch v.Field("type").Str() {
	case "Object":
		want = "object"
	case "Pods":
		want = "pods"
	case "Resource":
		want = "resource"
	default:
		return // the enumeration of types rejects it
	}
	if !v.Field(want).IsSet() {
		c.Required("must populate information for the given metric source", want)
	}
	for _, name := range [...]string{"object", "pods", "resource"} {
		if name != want && v.Field(name).IsSet() {
			c.Forbidden("must populate the given metric source only", name)
		}
	}
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
