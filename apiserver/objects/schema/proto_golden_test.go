package schema_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quorate/apiserver/objects/schema"
)

// fullObjects is the folder of the objects that have every field. Their YAML files are written by
// hand; -update generates the other forms.
var fullObjects = filepath.Join("testdata", "golden", "full")

// goldenName returns the name of a kind's golden files, which is that of the kind's file.
func goldenName(k *schema.Kind) string { return strings.TrimSuffix(k.File, ".yaml") }

// kindsOfOwnForm returns all kinds except those that are another version of a stored kind with the
// same form.
func kindsOfOwnForm(t *testing.T) []*schema.Kind {
	t.Helper()
	return slices.DeleteFunc(slices.Clone(catalog(t).Kinds()), func(k *schema.Kind) bool {
		return k.Storage() != k && !k.Converts()
	})
}

// forms holds an object in each of its forms.
type forms struct{ json, yaml, protobuf []byte }

func formsOf(t *testing.T, o *schema.Object) forms {
	t.Helper()
	text, err := schema.ToYAML(o.AppendJSON(nil))
	if err != nil {
		t.Fatal(err)
	}
	return forms{append(indent(t, o.AppendJSON(nil)), '\n'), text, o.AppendProtobuf(nil)}
}

func (f forms) files(name string) map[string][]byte {
	return map[string][]byte{name + ".json": f.json, name + ".yaml": f.yaml, name + ".pb": f.protobuf}
}

// full decodes the kind's full object from its YAML.
func full(t testing.TB, k *schema.Kind) *schema.Object {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(fullObjects, goldenName(k)+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return fromYAML(t, k, text)
}

func fromYAML(t testing.TB, k *schema.Kind, text []byte) *schema.Object {
	t.Helper()
	body, err := schema.YAMLToJSON(text, maxYAML)
	if err != nil {
		t.Fatal(err)
	}
	return fromJSON(t, k, body)
}

func fromJSON(t testing.TB, k *schema.Kind, body []byte) *schema.Object {
	t.Helper()
	o, problems, err := k.Decode(body)
	if err != nil || len(problems.List()) > 0 {
		t.Fatal(err, problems.List())
	}
	return o
}

// TestFullObjects checks that the JSON, YAML and protobuf of an object with every field decode to
// the same object, and that this object encodes to the same bytes in each form (B1, B17, B20).
func TestFullObjects(t *testing.T) {
	for _, k := range kindsOfOwnForm(t) {
		t.Run(goldenName(k), func(t *testing.T) {
			want := full(t, k)
			for name, got := range formsOf(t, want).files(goldenName(k)) {
				golden(t, filepath.Join("full", name), got)
			}
			fromProtobuf, _, err := k.DecodeProtobuf(formsOf(t, want).protobuf)
			if err != nil {
				t.Fatal(err)
			}
			for form, o := range map[string]*schema.Object{
				"JSON":     fromJSON(t, k, formsOf(t, want).json),
				"YAML":     fromYAML(t, k, formsOf(t, want).yaml),
				"protobuf": fromProtobuf,
			} {
				if !schema.Equal(o.Root(), want.Root()) {
					t.Errorf("from %s: got %s\nwant %s", form, o.AppendJSON(nil), want.AppendJSON(nil))
				}
				for name, got := range formsOf(t, o).files(goldenName(k)) {
					if !bytes.Equal(got, formsOf(t, want).files(goldenName(k))[name]) {
						t.Errorf("from %s: %s differs", form, name)
					}
				}
			}
		})
	}
}

// unset lists the fields that no valid object of a kind can have, in addition to the namespace of
// cluster-scoped kinds.
var unset = map[string][]string{
	"role":   {"PolicyRule.nonResourceURLs"},
	"secret": {"Secret.stringData"}, // it becomes data
}

// TestFullObjectsHaveEveryField checks that the full objects of a kind set each field of each
// message and have two entries in each list and map.
func TestFullObjectsHaveEveryField(t *testing.T) {
	for _, k := range kindsOfOwnForm(t) {
		t.Run(goldenName(k), func(t *testing.T) {
			most := map[string]int{}
			count(full(t, k).Root(), most)
			for name := range fieldsOf(k.Message, map[*schema.Message]bool{}) {
				if name == "ObjectMeta.namespace" && !k.Namespaced {
					continue
				}
				if name == "ObjectMeta.managedFields" || strings.HasPrefix(name, "ManagedFieldsEntry.") {
					continue // TestManagedFields has them
				}
				if exempt := slices.Contains(unset[goldenName(k)], name); (most[name] > 0) == exempt {
					t.Errorf("%s: set %v, exempt %v", name, most[name] > 0, exempt)
				}
			}
			for name, n := range most {
				if n == 1 && name != "PersistentVolumeSpec.capacity" { // storage is the only valid key
					t.Errorf("%s never has two entries", name)
				}
			}
		})
	}
}

const scalarSet = 2

// count records in most, by message and field, the largest number of entries that the field has.
func count(v *schema.Value, most map[string]int) {
	switch m := v.Type().Message(); {
	case m != nil:
		for _, f := range m.Fields() {
			kid := v.Field(f.Name)
			if !kid.IsSet() {
				continue
			}
			n := scalarSet
			if f.Type.Form == schema.FormList || f.Type.Form == schema.FormMap {
				n = kid.Len()
			}
			most[m.Name+"."+f.Name] = max(n, most[m.Name+"."+f.Name])
			count(kid, most)
		}
	case v.Type().Form == schema.FormList:
		for _, item := range v.Items() {
			count(item, most)
		}
	}
}

// fieldsOf returns "message.field" for each field of m and the messages below it.
func fieldsOf(m *schema.Message, seen map[*schema.Message]bool) map[string]bool {
	out := map[string]bool{}
	if seen[m] {
		return out
	}
	seen[m] = true
	for _, f := range m.Fields() {
		out[m.Name+"."+f.Name] = true
		t := f.Type
		for t.Elem() != nil {
			t = t.Elem()
		}
		if t.Message() != nil {
			for name := range fieldsOf(t.Message(), seen) {
				out[name] = true
			}
		}
	}
	return out
}

// refused lists, for each full object that is invalid, the fields at which validation rejects it.
// No valid object can have all fields: the sources of a volume exclude each other, and some fields
// of a pod template depend on the kind. A new event of events.k8s.io has no fields that only the
// core group uses.
var refused = map[string][]string{
	"customresourcedefinition": {"spec.conversion.webhookClientConfig", "spec.preserveUnknownFields"},
	"cronjob":                  {"spec.jobTemplate.spec.selector"},
	"daemonset":                {"spec.template.spec.activeDeadlineSeconds"},
	"deployment":               {"spec.template.spec.activeDeadlineSeconds"},
	"event.events":             {"deprecatedSource", "deprecatedFirstTimestamp", "deprecatedLastTimestamp", "deprecatedCount"},
	"persistentvolume":         {"spec.vendorAVolume"},
	"poddisruptionbudget":      {"spec"},
	"replicaset":               {"spec.template.spec.activeDeadlineSeconds"},
	"replicationcontroller":    {"spec.template.spec.activeDeadlineSeconds"},
	"statefulset":              {"spec.template.spec.activeDeadlineSeconds"},
}

func TestFullObjectsAreValid(t *testing.T) {
	for _, k := range kindsOfOwnForm(t) {
		t.Run(goldenName(k), func(t *testing.T) {
			var got []string
			for _, err := range k.ValidateCreate(full(t, k)) {
				if !strings.HasSuffix(err.Detail, "may not specify more than 1 volume type") {
					got = append(got, err.Field)
				}
			}
			if !slices.Equal(got, refused[goldenName(k)]) {
				t.Errorf("refused %q, want %q", got, refused[goldenName(k)])
			}
		})
	}
}

func TestEveryKindHasProtobuf(t *testing.T) {
	for _, k := range kindsOfOwnForm(t) {
		if !k.HasProtobuf() {
			t.Errorf("B20: a field of %s has no protobuf number", k.QualifiedKind())
		}
	}
}
