package mixture

import (
	"encoding/json"
	"strconv"
	"strings"

	"quorate/chaos/check/watchmodel"
	"quorate/chaos/client"
)

// version is an API version of a kind.
type version struct{ prefix, apiVersion string }

// kind is a kind of objects that the writers write.
type kind struct {
	name     string
	resource string
	versions []version // references and the judged writes use the first
	hasPhase bool      // its status subresource has a phase
}

// kinds returns those of the mixture. A StatefulSet is served in two API versions.
func kinds() []kind {
	core := []version{{"/api/v1", "v1"}}
	return []kind{
		{name: "ConfigMap", resource: "configmaps", versions: core},
		{name: "Pod", resource: "pods", versions: core, hasPhase: true},
		{name: "StatefulSet", resource: "statefulsets", versions: []version{
			{"/apis/apps/v1", "apps/v1"}, {"/apis/apps/v1beta2", "apps/v1beta2"},
		}},
	}
}

// path returns the path of a collection or an object. An empty namespace means all namespaces.
func (k *kind) path(v version, namespace, name string) string {
	path := v.prefix
	if namespace != "" {
		path += "/namespaces/" + namespace
	}
	path += "/" + k.resource
	if name != "" {
		path += "/" + name
	}
	return path
}

const (
	// markerKey is the annotation that names the last write.
	markerKey = "mixture.quorate.io/write"
	// valueKey is the key of the value in a ConfigMap.
	valueKey = "value"
	// The finalizers of new objects.
	firstFinalizer, secondFinalizer = "mixture.quorate.io/first", "mixture.quorate.io/second"
)

// objectOf converts an object to the model's form.
func objectOf(r *client.Resource) watchmodel.Object {
	o := watchmodel.Object{
		Namespace: r.Namespace, Name: r.Name, UID: r.UID, Version: r.Version, Labels: watchmodel.LabelsOf(r.Labels),
		Node: r.Node, Phase: r.Phase, Finalizers: strings.Join(r.Finalizers, ","), Deleting: r.Deleting,
		Marker: r.Annotations[markerKey], Value: r.Data[valueKey],
	}
	if r.Replicas != 0 {
		o.Value = strconv.FormatInt(r.Replicas, 10)
	}
	return o
}

// draft is the content that a writer gives an object.
type draft struct {
	labels     map[string]string
	finalizers []string
	marker     string
	node       string // of a Pod
	value      string // of a ConfigMap
	replicas   int    // of a StatefulSet
	padding    int    // bytes
}

// labelled converts labels to a map.
func labelled(l watchmodel.Labels) map[string]string {
	m := map[string]string{}
	for pair := range strings.SplitSeq(string(l), ",") {
		if key, value, ok := strings.Cut(pair, "="); ok {
			m[key] = value
		}
	}
	return m
}

// body returns the object in JSON. If the version of the existing object is known, the body
// replaces that version.
func (k *kind) body(v version, namespace, name string, d draft, there *watchmodel.Object) ([]byte, error) {
	annotations := map[string]string{markerKey: d.marker, "mixture.quorate.io/padding": strings.Repeat("p", d.padding)}
	metadata := map[string]any{
		"name": name, "namespace": namespace, "labels": d.labels, "annotations": annotations, "finalizers": d.finalizers,
	}
	if there != nil {
		metadata["uid"] = there.UID
	}
	if there != nil && there.Version != 0 {
		metadata["resourceVersion"] = strconv.FormatUint(there.Version, 10)
	}
	object := map[string]any{"apiVersion": v.apiVersion, "kind": k.name, "metadata": metadata}
	containers := []any{map[string]any{"name": "c", "image": "registry.local/c:1"}}
	switch k.name {
	case "ConfigMap":
		object["data"] = map[string]string{valueKey: d.value}
	case "Pod":
		spec := map[string]any{"containers": containers}
		if d.node != "" {
			spec["nodeName"] = d.node
		}
		object["spec"] = spec
	default:
		selected := map[string]string{"app": name}
		object["spec"] = map[string]any{
			"replicas": d.replicas, "serviceName": "s", "selector": map[string]any{"matchLabels": selected},
			"template": map[string]any{"metadata": map[string]any{"labels": selected}, "spec": map[string]any{"containers": containers}},
		}
	}
	return json.Marshal(object)
}

// mergePatch returns a merge patch that changes the existing labels to those of the draft.
func (d *draft) mergePatch(there *watchmodel.Object) ([]byte, error) {
	labels := map[string]any{}
	for key := range labelled(there.Labels) {
		labels[key] = nil
	}
	for key, value := range d.labels {
		labels[key] = value
	}
	return json.Marshal(map[string]any{"metadata": map[string]any{
		"labels": labels, "annotations": map[string]any{markerKey: d.marker}, "finalizers": d.finalizers,
	}})
}

// jsonPatch is the same as a JSON patch.
func (d *draft) jsonPatch(there *watchmodel.Object) ([]byte, error) {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value,omitempty"`
	}
	operations := []operation{
		{"add", "/metadata/labels", d.labels},
		{"add", "/metadata/annotations/" + strings.ReplaceAll(markerKey, "/", "~1"), d.marker},
	}
	switch {
	case len(d.finalizers) > 0:
		operations = append(operations, operation{"add", "/metadata/finalizers", d.finalizers})
	case there.Finalizers != "":
		operations = append(operations, operation{"remove", "/metadata/finalizers", nil})
	}
	return json.Marshal(operations)
}
