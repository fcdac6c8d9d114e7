package specification

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"quorate/apiserver/internal/testserver"
	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/validation"
)

// fieldRows prove the tables of §2. Most tests create an object with every field that the
// specification names, write its status, and read the whole object back. The golden tests of
// package schema use the same objects.
var fieldRows = []row{
	{"§2.1", metadataFields},
	{"§2.1-initializers", initializerFields},
	{"§2.1-ownerReferences", ownerFields},
	{"§2.2", statusFields},
	{"§2.3", referenceFields},
	{"§2.4", keepsFields("Endpoints")},
	{"§2.5", keepsFields("Namespace")},
	{"§2.6", keepsFields("ConfigMap")},
	{"§2.7", keepsFields("Event")},
	{"§2.8", keepsFields("PersistentVolume")},
	{"§2.9", keepsFields("Node")},
	{"§2.10", keepsFields("ClusterNetwork")},
	{"§2.11", keepsFields("Image")},
	{"§2.12", keepsFields("ThirdPartyResource")},
	{"§2.13", keepsFields("ClusterRole", "Role")},
	{"§2.14", keepsFields("OAuthClient")},
	{"§2.15", keepsFields("HostSubnet")},
	{"§2.16", keepsFields("ClusterRoleBinding", "LegacyBinding")},
	{"§2.17", keepsFields("HorizontalPodAutoscaler")},
	{"§2.18", keepsFields("DaemonSet")},
	{"§2.18a", keepsFields("CronJob")},
	{"§2.18b", keepsFields("StatefulSet")},
	{"§2.19", selectorFields},
	{"§2.20", volumeFields},
	{"§2.20-templates", templateFields},
	{"§2.21 §2.22", keepsFields("Pod")},
}

// keepsFields creates an object of each kind with all fields of its table and expects them back.
func keepsFields(names ...string) func(*testing.T, *testserver.Server) {
	return func(t *testing.T, s *testserver.Server) {
		for _, kind := range names {
			paths := expand(tables[kind])
			hasFields(t, kind, paths...)
			unkept := expand(unkept[kind])
			paths = slices.DeleteFunc(paths, func(p string) bool { return slices.Contains(unkept, p) })
			shows(t, kind, stored(t, s, kind, full(t, kind)), paths...)
		}
	}
}

// stored creates an object, writes its status where it has one of its own, and returns it as it
// reads. Everything sent is kept.
func stored(t *testing.T, s *testserver.Server, kind string, sent map[string]any) string {
	t.Helper()
	ns := namespace(t, s)
	meta := below(t, sent, "metadata")
	if kindNamed(kind).namespaced {
		meta["namespace"] = ns
		if involved, isEvent := sent["involvedObject"].(map[string]any); isEvent {
			involved["namespace"] = ns
		}
	}
	name, isText := meta["name"].(string)
	if !isText {
		t.Fatal("no name")
	}
	ok(t, s.Do("POST", collection(kind, ns), jsonOf(t, sent)))
	if status, has := sent["status"]; has && kind != "Namespace" {
		ok(t, s.Do("PATCH", item(kind, ns, name)+"/status", jsonOf(t, map[string]any{"status": status}), mergePatch))
	}
	got := ok(t, s.Do("GET", item(kind, ns, name), ""))
	if kind != "LegacyBinding" && kind != "Namespace" {
		keeps(t, kind, object(got), sent)
	}
	ok(t, s.Do("DELETE", item(kind, ns, name)+"?gracePeriodSeconds=0", ""))
	return got
}

// full is the object with every field, less what only the server sets, what would have the object
// collected or held back, and what no valid object has.
func full(t *testing.T, kind string) map[string]any {
	t.Helper()
	name := strings.ToLower(kind)
	switch kind {
	case "LegacyBinding":
		name = "clusterrolebinding.legacy"
	case "ClusterRoleBinding":
		name = "clusterrolebinding.rbac"
	}
	body, err := os.ReadFile(filepath.Join("..", "objects", "schema", "testdata", "golden", "full", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	o := object(string(body))
	meta := below(t, o, "metadata")
	for _, field := range []string{
		"selfLink", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
		"clusterName", "initializers", "ownerReferences", "finalizers",
	} {
		delete(meta, field)
	}
	switch kind {
	case "DaemonSet", "StatefulSet":
		delete(below(t, o, "spec", "template", "spec"), "activeDeadlineSeconds")
	case "CronJob":
		delete(below(t, o, "spec", "jobTemplate", "spec"), "selector")
	case "PersistentVolume":
		onlySource(t, o, "hostPath")
	case "ClusterRole": // an extra, by which the server replaces the rules
		delete(o, "aggregationRule")
	}
	return o
}

// onlySource leaves a persistent volume one source.
func onlySource(t *testing.T, o map[string]any, source string) {
	t.Helper()
	spec := below(t, o, "spec")
	for _, path := range expand(volumeSources + "," + persistentVolumes) {
		if name, _, _ := strings.Cut(path, "."); name != source {
			delete(spec, name)
		}
	}
}

func volumeFields(t *testing.T, s *testserver.Server) {
	shared, pods, volumes := expand(volumeSources), expand(podVolumes), expand(persistentVolumes)
	under := func(prefix string, paths ...string) []string {
		out := make([]string, len(paths))
		for i, path := range paths {
			out[i] = prefix + path
		}
		return out
	}
	inPods, inVolumes := under("spec.volumes[].", slices.Concat(shared, pods)...), under("spec.", slices.Concat(shared, volumes)...)
	hasFields(t, "Pod", inPods...)
	hasFields(t, "PersistentVolume", inVolumes...)
	hasNoFields(t, "Pod", under("spec.volumes[].", volumes...)...)
	hasNoFields(t, "PersistentVolume", under("spec.", pods...)...)
	shows(t, "Pod", stored(t, s, "Pod", full(t, "Pod")), inPods...)

	sources := map[string]bool{}
	for _, path := range slices.Concat(shared, volumes) {
		name, _, _ := strings.Cut(path, ".")
		sources[name] = true
	}
	for source := range sources {
		o := full(t, "PersistentVolume")
		whole := object(goldenText(t, "persistentvolume"))
		below(t, o, "spec")[source] = below(t, whole, "spec")[source]
		onlySource(t, o, source)
		paths := slices.DeleteFunc(slices.Clone(inVolumes), func(p string) bool { return !strings.HasPrefix(p, "spec."+source+".") })
		if source == "vendorAVolume" { // a name or a UUID
			delete(below(t, o, "spec", source), "datasetUUID")
			shows(t, source, stored(t, s, "PersistentVolume", o), "spec.vendorAVolume.datasetName")
			below(t, o, "spec")[source] = map[string]any{"datasetUUID": "u"}
			paths = []string{"spec.vendorAVolume.datasetUUID"}
		}
		shows(t, source, stored(t, s, "PersistentVolume", o), paths...)
	}
}

func templateFields(t *testing.T, s *testserver.Server) {
	onlyInTemplates := expand(templateShape + "," + templateVolumes)
	for _, path := range onlyInTemplates {
		hasNoFields(t, "Pod", "spec."+path)
	}
	for kind, at := range map[string]string{
		"DaemonSet": "spec.template.spec.", "StatefulSet": "spec.template.spec.", "CronJob": "spec.jobTemplate.spec.template.spec.",
	} {
		var paths []string
		for _, path := range onlyInTemplates {
			paths = append(paths, at+path)
		}
		hasFields(t, kind, paths...)
		shows(t, kind, stored(t, s, kind, full(t, kind)), paths...)
	}
}

func selectorFields(t *testing.T, s *testserver.Server) {
	at := map[string]string{"DaemonSet": "spec.selector", "StatefulSet": "spec.selector", "CronJob": "spec.jobTemplate.spec.selector"}
	for kind, path := range at {
		paths := expand(path + selectorShape)
		hasFields(t, kind, paths...)
		if kind != "CronJob" { // whose jobs select their pods by themselves
			shows(t, kind, stored(t, s, kind, full(t, kind)), paths...)
		}
	}
}

func goldenText(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("..", "objects", "schema", "testdata", "golden", "full", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// below is an object in an object.
func below(t *testing.T, o map[string]any, names ...string) map[string]any {
	t.Helper()
	for _, name := range names {
		below, isObject := o[name].(map[string]any)
		if !isObject {
			t.Fatalf("%s is no object", name)
		}
		o = below
	}
	return o
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// keeps expects everything that was sent in what was read.
func keeps(t *testing.T, path string, got, sent any) {
	t.Helper()
	switch sent := sent.(type) {
	case map[string]any:
		have, isObject := got.(map[string]any)
		if !isObject {
			t.Errorf("%s is lost", path)
			return
		}
		for _, name := range slices.Sorted(maps.Keys(sent)) {
			keeps(t, path+"."+name, have[name], sent[name])
		}
	case []any:
		have, isList := got.([]any)
		if !isList || len(have) != len(sent) {
			t.Errorf("%s: got %v, sent %v", path, got, sent)
			return
		}
		for i := range sent {
			keeps(t, path+"[]", have[i], sent[i])
		}
	default:
		if got != sent {
			t.Errorf("%s: got %v, sent %v", path, got, sent)
		}
	}
}

// shows expects each path to lead to something.
func shows(t *testing.T, what, body string, paths ...string) {
	t.Helper()
	o := object(body)
	for _, path := range paths {
		if !leads(o, strings.Split(path, ".")) {
			t.Errorf("%s: no %s", what, path)
		}
	}
}

func leads(v any, path []string) bool {
	if len(path) == 0 {
		return v != nil
	}
	o, isObject := v.(map[string]any)
	if !isObject {
		return false
	}
	name, isList := strings.CutSuffix(path[0], "[]")
	if !isList {
		return leads(o[name], path[1:])
	}
	items, _ := o[name].([]any)
	return slices.ContainsFunc(items, func(item any) bool { return leads(item, path[1:]) })
}

// expand reads a list of fields, "a, b[]{c, d}", into paths: "a", "b[].c", "b[].d".
func expand(shape string) []string {
	paths, rest := expandFrom(strings.Join(strings.Fields(shape), ""), "")
	if rest != "" {
		panic("left over: " + rest)
	}
	return paths
}

func expandFrom(s, prefix string) (paths []string, rest string) {
	for s != "" && s[0] != '}' {
		end := strings.IndexAny(s, ",{}")
		if end < 0 {
			end = len(s)
		}
		name := prefix + s[:end]
		s = s[end:]
		if strings.HasPrefix(s, "{") {
			var below []string
			below, s = expandFrom(s[1:], name+".")
			paths, s = append(paths, below...), strings.TrimPrefix(s, "}")
		} else {
			paths = append(paths, name)
		}
		s = strings.TrimPrefix(s, ",")
	}
	return paths, s
}

// loaded is the kinds as the server has them.
var loaded = sync.OnceValues(func() (*schema.Catalog, error) { return schema.Load(kinds.Files, validation.Hooks()) })

func schemaOf(t *testing.T) *schema.Catalog {
	t.Helper()
	cat, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

// hasFields expects the kind to have the fields.
func hasFields(t *testing.T, kind string, paths ...string) {
	t.Helper()
	checkFields(t, kind, true, paths)
}

// hasNoFields expects it not to have them.
func hasNoFields(t *testing.T, kind string, paths ...string) {
	t.Helper()
	checkFields(t, kind, false, paths)
}

func checkFields(t *testing.T, kind string, should bool, paths []string) {
	t.Helper()
	k := schemaOf(t).Kind(kindNamed(kind).prefix, kindNamed(kind).plural)
	for _, path := range paths {
		if has(k.Message, path) != should {
			t.Errorf("%s: field %s: %v, want %v", kind, path, !should, should)
		}
	}
}

func has(m *schema.Message, path string) bool {
	for name := range strings.SplitSeq(path, ".") {
		if m == nil {
			return false
		}
		name, isList := strings.CutSuffix(name, "[]")
		f := m.Field(name)
		if f == nil || (f.Type.Form == schema.FormList) != isList {
			return false
		}
		if m = f.Type.Message(); isList {
			m = f.Type.Elem().Message()
		}
	}
	return true
}
