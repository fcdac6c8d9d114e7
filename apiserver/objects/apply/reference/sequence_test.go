package reference_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"quorate/apiserver/objects/schema"
)

// kindsUnderTest are the kinds whose objects the sequences are about, with their shapes.
func kindsUnderTest() map[string]node {
	metadata := object{
		"labels":      mapping{"a", "b", "c"}.of(texts("1", "2")),
		"annotations": mapping{"x", "y"}.of(texts("1", "2")),
		"finalizers":  set("x.io/a", "x.io/b", "x.io/c"),
		"ownerReferences": keyed{object{
			"apiVersion": texts("v1"), "kind": texts("Node"), "name": texts("n", "m"), "controller": boolean{},
		}, "uid", []any{"u1", "u2"}, ""},
	}
	template := object{"metadata": object{"labels": mapping{"a", "b"}.of(texts("1", "2"))}, "spec": podSpec()}
	selector := object{"matchLabels": mapping{"a", "b"}.of(texts("1", "2"))}
	return map[string]node{
		"/api/v1/pods": object{"metadata": metadata, "spec": podSpec(), "status": podStatus()},
		"/api/v1/configmaps": object{
			"metadata": metadata, "data": mapping{"a", "b", "c"}.of(texts("1", "2")), "binaryData": mapping{"d", "e"}.of(texts("AA==", "AQ==")),
			"immutable": boolean{},
		},
		"/api/v1/services": object{"metadata": metadata, "spec": object{
			"type": texts("ClusterIP", "NodePort"), "selector": mapping{"a", "b"}.of(texts("1", "2")), "externalIPs": list("1.2.3.4", "1.2.3.5"),
			"ports": keyed{object{"name": texts("p", "q"), "targetPort": values{1, "http"}, "nodePort": values{30000, 30001}},
				"port", []any{80, 81}, "protocol"},
		}},
		"/apis/apps/v1/statefulsets": object{"metadata": metadata, "spec": object{
			"replicas": values{1, 2, 3}, "serviceName": texts("s", "t"), "selector": selector, "template": template,
			"updateStrategy": object{"type": texts("RollingUpdate", "OnDelete"), "rollingUpdate": object{"partition": values{1, 2}}},
		}},
		"/apis/apps/v1/daemonsets": object{"metadata": metadata, "spec": object{
			"selector": selector, "template": template, "minReadySeconds": values{1, 2},
		}},
	}
}

func podSpec() node {
	source := object{"configMapKeyRef": object{"name": texts("c", "d"), "key": texts("k", "l")}}
	container := object{
		"image": texts("i", "j"), "command": list("a", "b", "c"),
		"env":   keyed{object{"value": texts("1", "2"), "valueFrom": source}, "name", []any{"A", "B"}, ""},
		"ports": keyed{object{"name": texts("p", "q"), "hostPort": values{1, 2}}, "containerPort", []any{80, 81}, "protocol"},
		"resources": object{
			"limits":   mapping{"cpu", "memory"}.of(texts("1", "500m", "1000m")),
			"requests": mapping{"cpu", "memory"}.of(texts("1", "2")),
		},
		"volumeMounts": keyed{object{"name": texts("v", "w"), "readOnly": boolean{}}, "mountPath", []any{"/a", "/b"}, ""},
	}
	return object{
		"containers": keyed{container, "name", []any{"a", "b", "c"}, ""}, "nodeSelector": mapping{"a", "b"}.of(texts("1", "2")),
		"volumes":     keyed{object{"configMap": object{"name": texts("c", "d")}, "emptyDir": object{"medium": texts("Memory")}}, "name", []any{"v", "w"}, ""},
		"tolerations": items{object{"key": texts("k", "l"), "value": texts("1", "2")}}, "restartPolicy": texts("Always", "Never"),
		"hostAliases": keyed{object{"hostnames": list("h", "i")}, "ip", []any{"1.1.1.1", "2.2.2.2"}, ""}, "nodeName": texts("n", "m"),
		"imagePullSecrets":              keyed{object{}, "name", []any{"s", "t"}, ""},
		"terminationGracePeriodSeconds": values{0, 30}, "hostNetwork": boolean{},
	}
}

func podStatus() node {
	return object{
		"phase": texts("Running", "Failed"), "podIP": texts("1.1.1.1"),
		"conditions": keyed{object{"status": texts("True", "False"), "reason": texts("a", "b")}, "type", []any{"Ready", "Initialized"}, ""},
	}
}

// TestSequences compares random sequences of applies and updates.
func TestSequences(t *testing.T) {
	all := catalog(t)
	for path, shape := range kindsUnderTest() {
		var k *schema.Kind
		for _, each := range all.Kinds() {
			if each.Prefix+"/"+each.Plural == path {
				k = each
			}
		}
		if k == nil {
			t.Fatalf("there is no kind at %s", path)
		}
		t.Run(k.Kind, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(r *rapid.T) {
				sequence{newPair(r, k), shape, r}.run()
			})
		})
	}
}

type sequence struct {
	*pair
	shape node
	r     *rapid.T
}

// managers has more than the ten whose updates are kept apart. "kubectl" takes over what it applied
// on the client's side.
var managers = []string{"kubectl", "m", "n", "o"}

func (s sequence) run() {
	if s.chance(70) {
		s.create(s.r, s.text(s.object(s.shape, 60)))
	}
	for range rapid.IntRange(1, 8).Draw(s.r, "steps") {
		manager := rapid.SampledFrom(managers).Draw(s.r, "manager")
		subresource := ""
		if s.kind.Strategy.HasStatus && s.exists && s.chance(15) {
			subresource = "status"
		}
		switch {
		case s.exists && s.chance(40):
			s.update(s.r, subresource, manager, s.changed())
		default:
			s.apply(s.r, subresource, manager, s.text(s.object(s.shape, 35)), s.chance(30))
		}
	}
}

func (s sequence) chance(percent int) bool {
	return rapid.IntRange(0, 99).Draw(s.r, "chance") < percent
}

// object draws an object of a shape that has each of its fields with a probability.
func (s sequence) object(shape node, percent int) map[string]any {
	out, _ := shape.draw(s, percent).(map[string]any)
	if out == nil {
		out = map[string]any{}
	}
	metadata, _ := out["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		out["metadata"] = metadata
	}
	metadata["name"], metadata["namespace"] = "o", "default"
	out["apiVersion"], out["kind"] = s.kind.APIVersion, s.kind.Kind
	return out
}

// changed returns the stored object with some fields changed, or another one.
func (s sequence) changed() string {
	var live map[string]any
	if err := json.Unmarshal(s.own.AppendJSON(nil), &live); err != nil {
		s.r.Fatal(err)
	}
	if s.chance(80) {
		overlay(live, s.object(s.shape, 25))
	} else {
		live = s.object(s.shape, 50)
	}
	if s.chance(10) {
		annotated := s.object(s.shape, 30)
		metadata := live["metadata"].(map[string]any)
		annotations, _ := metadata["annotations"].(map[string]any)
		if annotations == nil {
			annotations = map[string]any{}
		}
		annotations["kubectl.kubernetes.io/last-applied-configuration"] = s.text(annotated)
		metadata["annotations"] = annotations
	}
	metadata := live["metadata"].(map[string]any)
	switch {
	case s.chance(5):
		metadata["managedFields"] = []any{map[string]any{}}
	case s.chance(5):
		metadata["managedFields"] = []any{}
	case s.chance(30):
		delete(metadata, "managedFields")
	}
	return s.text(live)
}

// overlay sets fields of an object to those of another one. Lists are replaced.
func overlay(o, by map[string]any) {
	for name, v := range by {
		below, ok := o[name].(map[string]any)
		if other, both := v.(map[string]any); ok && both {
			overlay(below, other)
			continue
		}
		o[name] = v
	}
}

func (s sequence) text(o map[string]any) string {
	text, err := json.Marshal(o)
	if err != nil {
		s.r.Fatal(err)
	}
	return string(text)
}

// node is the shape of a value.
type node interface {
	// draw draws a value, or nil for none.
	draw(s sequence, percent int) any
}

// object has fields.
type object map[string]node

func (o object) draw(s sequence, percent int) any {
	out := map[string]any{}
	for _, name := range sortedNames(o) {
		if !s.chance(percent) {
			continue
		}
		if v := o[name].draw(s, percent); v != nil {
			out[name] = v
		}
	}
	return out
}

// values is a choice of scalars.
type values []any

func (v values) draw(s sequence, _ int) any { return rapid.SampledFrom(v).Draw(s.r, "value") }

func texts(all ...string) node {
	var out values
	for _, text := range all {
		out = append(out, text)
	}
	return out
}

type boolean struct{}

func (boolean) draw(s sequence, _ int) any { return s.chance(50) }

// mapping is a map with some of its keys.
type mapping []string

func (m mapping) of(v node) node {
	out := object{}
	for _, key := range m {
		out[key] = v
	}
	return some{out}
}

// some draws at least one field.
type some struct{ object }

func (m some) draw(s sequence, _ int) any {
	out, _ := m.object.draw(s, 50).(map[string]any)
	if len(out) == 0 {
		return nil
	}
	return out
}

// list is a list of scalars, which may repeat unless it is a set.
type lists struct {
	from   values
	unique bool
}

func list(all ...any) node { return lists{from: all} }
func set(all ...any) node  { return lists{from: all, unique: true} }

func (l lists) draw(s sequence, _ int) any {
	var out []any
	if l.unique {
		out = rapid.Permutation(l.from).Draw(s.r, "order")[:rapid.IntRange(1, len(l.from)).Draw(s.r, "count")]
	} else {
		out = rapid.SliceOfN(rapid.SampledFrom(l.from), 1, 3).Draw(s.r, "items")
	}
	return append([]any(nil), out...)
}

// items is a list of objects without keys.
type items struct{ of node }

func (i items) draw(s sequence, percent int) any {
	var out []any
	for range rapid.IntRange(1, 2).Draw(s.r, "items") {
		out = append(out, i.of.draw(s, max(percent, 50)))
	}
	return out
}

// keyed is a list of objects with a key, and with a second one that is a protocol.
type keyed struct {
	of     object
	key    string
	keys   []any
	second string
}

func (k keyed) draw(s sequence, percent int) any {
	var out []any
	order := rapid.Permutation(k.keys).Draw(s.r, "keys")
	for _, key := range order[:rapid.IntRange(1, len(order)).Draw(s.r, "count")] {
		item := k.of.draw(s, percent).(map[string]any)
		item[k.key] = key
		if k.second != "" && s.chance(50) {
			item[k.second] = rapid.SampledFrom([]string{"TCP", "UDP"}).Draw(s.r, "protocol")
		}
		out = append(out, item)
	}
	return out
}

func sortedNames(o object) []string {
	return slices.Sorted(maps.Keys(o))
}
