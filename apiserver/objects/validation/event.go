package validation

import (
	"k8s.io/apimachinery/pkg/util/validation"

	"quorate/apiserver/objects/schema"
)

func eventHooks() schema.Hooks {
	return schema.Hooks{
		Validators: map[string]schema.Validator{
			"eventBesideItsObject": eventBesideItsObject,
			"completeEvent":        completeEvent,
		},
	}
}

// eventBesideItsObject requires an event to be in the namespace of its involved object, or in
// namespace default if that object has no namespace (M16).
func eventBesideItsObject(c *schema.Context, v *schema.Value) {
	about, own := v.Field("namespace").Str(), c.Object.Namespace()
	if about == own || about == "" && own == "default" {
		return
	}
	c.Invalid(about, "does not match event.namespace", "namespace")
}

// The longest texts of an event of events.k8s.io, in bytes.
const (
	maxEventText = 128
	maxEventNote = 1024
)

// completeEvent requires of an event of events.k8s.io what every reporter of that group knows, and
// refuses fields that only the core group uses in a new event. An event that was created in the
// core group may lack and have them.
func completeEvent(c *schema.Context, v *schema.Value) {
	if series := v.Field("series"); series.IsSet() && (c.Old == nil || !schema.Equal(series, c.Old.Field("series"))) {
		completeSeries(c, series)
	}
	if v.Field("eventTime").IsSet() {
		completeReport(c, v)
	}
	if c.Operation != schema.Create {
		return
	}
	if !v.Field("eventTime").IsSet() {
		c.Required("", "eventTime")
	}
	if t := v.Field("type"); t.Str() != "Normal" && t.Str() != "Warning" {
		c.NotSupported(t.Str(), []string{"Normal", "Warning"}, "type")
	}
	for _, name := range [...]string{"deprecatedSource", "deprecatedFirstTimestamp", "deprecatedLastTimestamp", "deprecatedCount"} {
		if !v.Field(name).IsEmpty() {
			c.Forbidden("needs to be unset", name)
		}
	}
}

func completeReport(c *schema.Context, v *schema.Value) {
	for _, name := range [...]string{"reportingController", "reportingInstance", "action", "reason"} {
		text := v.Field(name)
		if text.IsEmpty() {
			c.Required("", name)
		} else if len(text.Str()) > maxEventText && name != "reportingController" {
			c.TooLong(maxEventText, name)
		}
	}
	if controller := v.Field("reportingController"); !controller.IsEmpty() {
		for _, why := range validation.IsQualifiedName(controller.Str()) {
			c.Invalid(controller, why, "reportingController")
		}
	}
	if len(v.Field("note").Str()) > maxEventNote {
		c.TooLong(maxEventNote, "note")
	}
}

func completeSeries(c *schema.Context, series *schema.Value) {
	const fewest = 2
	if count := series.Field("count"); count.Int() < fewest {
		c.Invalid(count.Int(), "must be greater than or equal to 2", "series", "count")
	}
	if !series.Field("lastObservedTime").IsSet() {
		c.Required("", "series", "lastObservedTime")
	}
}
