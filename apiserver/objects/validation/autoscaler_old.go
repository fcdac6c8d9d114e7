package validation

import (
	"encoding/json"
	"fmt"
	"strings"

	"quorate/apiserver/objects/schema"
)

// The annotations in which version v1 of autoscalers keeps the fields that it does not have. Their
// names are those that stock clients use.
const (
	metricsAnnotation        = "autoscaling.alpha.kubernetes.io/metrics"
	currentMetricsAnnotation = "autoscaling.alpha.kubernetes.io/current-metrics"
	conditionsAnnotation     = "autoscaling.alpha.kubernetes.io/conditions"
)

func oldAutoscalerHooks() schema.Hooks {
	return schema.Hooks{
		Conditions: map[string]schema.Condition{
			"hasNoOtherMetrics": hasNoOtherMetrics,
		},
		Validators: map[string]schema.Validator{
			"annotationsFit": annotationsFit,
		},
		Steps: map[string]schema.Step{
			"keepStatusAnnotations": func(c *schema.Context) { keepAnnotations(c, currentMetricsAnnotation, conditionsAnnotation) },
			"keepSpecAnnotations":   func(c *schema.Context) { keepAnnotations(c, metricsAnnotation) },
		},
		Converters: map[string]schema.Converter{
			"oldAutoscalerToStorage":   oldAutoscalerToStorage,
			"oldAutoscalerFromStorage": oldAutoscalerFromStorage,
		},
	}
}

// hasNoOtherMetrics reports whether the annotation for other metrics is absent or an empty list. In
// that case the metrics default to cpu (M20).
func hasNoOtherMetrics(c *schema.Context, _ *schema.Value) bool {
	var others []json.RawMessage
	text := c.Object.Annotations().Get(metricsAnnotation)
	return text.IsEmpty() || json.Unmarshal([]byte(text.Str()), &others) == nil && len(others) == 0
}

// keepAnnotations restores the annotations that represent fields from the stored object. It removes
// them from a new object.
func keepAnnotations(c *schema.Context, names ...string) {
	for _, name := range names {
		if c.Old != nil && c.Old.Annotations().Get(name).IsSet() {
			annotate(c.Object, name, c.Old.Annotations().Get(name).Str())
		} else {
			dropAnnotation(c.Object, name)
		}
	}
}

func annotate(o *schema.Object, name, text string) {
	o.Root().Make("metadata").Make("annotations").Put(name).SetStr(text)
}

func dropAnnotation(o *schema.Object, name string) {
	if annotations := o.Annotations(); annotations != nil {
		annotations.Delete(name)
	}
}

// annotationsFit validates the annotations that represent fields as strictly as the fields
// themselves.
func annotationsFit(c *schema.Context, _ *schema.Value) {
	stored := c.Kind.Storage()
	for _, held := range heldLists() {
		text := c.Object.Annotations().Get(held.annotation)
		if text.IsEmpty() {
			continue
		}
		if err := held.read(text.Str(), stored.New()); err != nil {
			c.Invalid(text, err.Error(), "metadata", "annotations", schema.Key(held.annotation))
			return
		}
	}
	for _, err := range stored.ValidateCreate(c.Kind.ToStorage(c.Object)) {
		if strings.HasPrefix(err.Field, "spec.metrics[") {
			text := c.Object.Annotations().Get(metricsAnnotation)
			c.Invalid(text, err.Error(), "metadata", "annotations", schema.Key(metricsAnnotation))
		}
	}
}

// heldList is a list of one form that another form keeps as JSON in an annotation: v1 keeps lists
// of the stored form so, and the stored form those of v2.
type heldList struct {
	annotation string
	place      [2]string
}

func heldLists() []heldList {
	return []heldList{
		{metricsAnnotation, [2]string{"spec", "metrics"}},
		{currentMetricsAnnotation, [2]string{"status", "currentMetrics"}},
		{conditionsAnnotation, [2]string{"status", "conditions"}},
	}
}

// read appends the items of a JSON list to the list of an object that has the field. After an error
// the object is unchanged.
func (h *heldList) read(text string, to *schema.Object) error {
	var items []json.RawMessage
	if err := json.Unmarshal([]byte(text), &items); err != nil {
		return fmt.Errorf("must be a JSON list: %w", err)
	}
	if len(items) == 0 {
		return nil
	}
	root := to.Root().Type().Message().Field(h.place[0]).Type.Message()
	m := root.Field(h.place[1]).Type.Elem().Message()
	values := make([]*schema.Value, len(items))
	for i, item := range items {
		v, _, err := m.Decode(item)
		if err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
		if v == nil {
			return fmt.Errorf("item %d: must be a %s", i, m.Name)
		}
		values[i] = v
	}
	list := to.Root().Make(h.place[0]).Make(h.place[1])
	for _, v := range values {
		list.AppendValue(v)
	}
	return nil
}

// write writes items to the annotation. Without items it removes the annotation, because one that
// is stored with the object does not represent the fields.
func (h *heldList) write(items []*schema.Value, to *schema.Object) {
	if len(items) == 0 {
		dropAnnotation(to, h.annotation)
		return
	}
	text := []byte{'['}
	for i, item := range items {
		if i > 0 {
			text = append(text, ',')
		}
		text = item.AppendJSON(text)
	}
	annotate(to, h.annotation, string(append(text, ']')))
}

// cpuOf returns the cpu utilization of a metric or its status, or nil if the metric is not about
// cpu.
func cpuOf(metric *schema.Value, field string) *schema.Value {
	if metric.Field("type").Str() != "Resource" || metric.Lookup("resource", "name").Str() != "cpu" {
		return nil
	}
	return metric.Lookup("resource", field)
}

func oldAutoscalerFromStorage(from, to *schema.Object) {
	spec, status := to.Root().Make("spec"), to.Root().Make("status")
	copyFields(from.Field("spec"), spec, "scaleTargetRef", "minReplicas", "maxReplicas")
	copyFields(from.Field("status"), status, "observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas")
	var others []*schema.Value
	for _, metric := range from.Root().Lookup("spec", "metrics").Items() {
		target := cpuOf(metric, "targetAverageUtilization")
		if target == nil || spec.Field("targetCPUUtilizationPercentage").IsSet() {
			others = append(others, metric)
			continue
		}
		spec.Make("targetCPUUtilizationPercentage").SetInt(target.Int())
	}
	var current []*schema.Value
	for _, metric := range from.Root().Lookup("status", "currentMetrics").Items() {
		if is := cpuOf(metric, "currentAverageUtilization"); is != nil {
			status.Make("currentCPUUtilizationPercentage").SetInt(is.Int())
		}
		current = append(current, metric)
	}
	var conditions []*schema.Value
	for _, condition := range from.Root().Lookup("status", "conditions").Items() {
		conditions = append(conditions, condition)
	}
	for i, items := range [...][]*schema.Value{others, current, conditions} {
		heldLists()[i].write(items, to)
	}
}

// oldAutoscalerToStorage converts to the stored form. Validation has already checked the
// annotations.
func oldAutoscalerToStorage(from, to *schema.Object) {
	spec, status := to.Root().Make("spec"), to.Root().Make("status")
	old, oldStatus := from.Field("spec"), from.Field("status")
	copyFields(old, spec, "scaleTargetRef", "minReplicas", "maxReplicas")
	copyFields(oldStatus, status, "observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas")
	if target := old.Field("targetCPUUtilizationPercentage"); target.IsSet() {
		resource := addCPU(spec.Make("metrics"))
		resource.Make("targetAverageUtilization").SetInt(target.Int())
	}
	for _, held := range heldLists() {
		text := from.Annotations().Get(held.annotation)
		if !text.IsEmpty() && held.read(text.Str(), to) == nil {
			dropAnnotation(to, held.annotation)
		}
	}
	if current := oldStatus.Field("currentCPUUtilizationPercentage"); current.IsSet() {
		currentCPU(status.Make("currentMetrics")).Make("currentAverageUtilization").SetInt(current.Int())
	}
}

// currentCPU returns the resource of the metric with the current cpu utilization. It adds such a
// metric if there is none.
func currentCPU(list *schema.Value) (resource *schema.Value) {
	for i := list.Len() - 1; i >= 0; i-- { // the last one takes precedence
		if metric := list.At(i); cpuOf(metric, "currentAverageUtilization") != nil {
			return metric.Field("resource")
		}
	}
	return addCPU(list)
}

// addCPU adds a metric, or the status of one, for cpu and returns its resource.
func addCPU(list *schema.Value) (resource *schema.Value) {
	metric := list.Append()
	metric.Make("type").SetStr("Resource")
	resource = metric.Make("resource")
	resource.Make("name").SetStr("cpu")
	return resource
}

func copyFields(from, to *schema.Value, names ...string) {
	for _, name := range names {
		if v := from.Field(name); v.IsSet() {
			to.Set(name, v.Copy())
		}
	}
}
