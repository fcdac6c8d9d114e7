package table_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/table"
	"quorate/apiserver/objects/table/cells"
	"quorate/apiserver/objects/validation"
)

const configMap = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m","namespace":"a","selfLink":"/l","resourceVersion":"7",` +
	`"creationTimestamp":"` + created + `"},"data":{"k":"v"}}`

// TestDocuments compares complete Tables and rows byte for byte.
func TestDocuments(t *testing.T) {
	t.Parallel()
	c := catalog(t)
	k := c.Kind("/api/v1", "configmaps")
	const (
		columns = `"columnDefinitions":[{"name":"Name","type":"string","format":"name","description":"What the object is called.","priority":0},` +
			`{"name":"Data","type":"string","format":"","description":"How many entries there are.","priority":0},` +
			`{"name":"Age","type":"string","format":"","description":"How long ago the object was created.","priority":0}],`
		meta    = `{"name":"m","namespace":"a","selfLink":"/l","resourceVersion":"7","creationTimestamp":"` + created + `"}`
		rowHead = `{"cells":["m","1","5m30s"]`
	)
	for _, tc := range []struct {
		row     string
		version string
		include table.Include
		columns bool
		want    string
	}{
		{"B24 B28", "v1", table.None, true, `{"kind":"Table","apiVersion":"meta.k8s.io/v1",` + columns +
			`"metadata":{"selfLink":"/l","resourceVersion":"7"},"rows":[` + rowHead + `}]}`},
		{"B29 later", "v1", table.None, false, `{"kind":"Table","apiVersion":"meta.k8s.io/v1",` +
			`"metadata":{"selfLink":"/l","resourceVersion":"7"},"rows":[` + rowHead + `}]}`},
		{"B25 B26", "v1beta1", table.Metadata, false, `{"kind":"Table","apiVersion":"meta.k8s.io/v1beta1",` +
			`"metadata":{"selfLink":"/l","resourceVersion":"7"},"rows":[` + rowHead +
			`,"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1beta1","metadata":` + meta + `}}]}`},
		{"B27", "v1", table.Object, false, `{"kind":"Table","apiVersion":"meta.k8s.io/v1",` +
			`"metadata":{"selfLink":"/l","resourceVersion":"7"},"rows":[` + rowHead + `,"object":` + configMap + `}]}`},
	} {
		r := rows(t, c, k, tc.version, tc.include)
		got, err := r.Append(r.AppendHead(nil, tc.columns), []byte(configMap), now)
		if err != nil || string(got) != tc.want {
			t.Errorf("%s: %v\n got %s\nwant %s", tc.row, err, got, tc.want)
		}
	}
	if _, err := rows(t, c, k, "v1", table.Metadata).AppendRow(nil, []byte(`{"kind":"Pod","apiVersion":"v1"}`), now); err == nil {
		t.Error("a Pod became a row of ConfigMaps")
	}
}

// TestViews checks that the rows of a view are computed from the converted object.
func TestViews(t *testing.T) {
	t.Parallel()
	c := catalog(t)
	legacy, rbac := c.Kind("/oapi/v1", "clusterrolebindings"), c.Kind("/apis/rbac.authorization.platform.io/v1", "clusterrolebindings")
	value := stored(t, rbac, `{"metadata":{"name":"b"},"roleRef":{"apiGroup":"rbac.authorization.platform.io","kind":"ClusterRole","name":"r"},`+
		`"subjects":[{"kind":"User","apiGroup":"rbac.authorization.platform.io","name":"u"}]}`)
	r := rows(t, c, legacy, "v1", table.Object)
	text, err := r.AppendRow(nil, value, now)
	if err != nil || !strings.Contains(string(text), `{"cells":["b","/r","u",`) ||
		!strings.Contains(string(text), `"object":{"kind":"ClusterRoleBinding","apiVersion":"v1",`) {
		t.Errorf("%v: %s", err, text)
	}
}

// TestDefaultColumns checks that a kind without columns has Name and Age (M51).
func TestDefaultColumns(t *testing.T) {
	t.Parallel()
	c := catalog(t)
	made, err := c.Schemaless(schema.Definition{
		Kind: "CronTab", Group: "stable.example.com", Plural: "crontabs", Singular: "crontab", Versions: []string{"v1", "v2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	value := stored(t, made[0], `{"kind":"CronTab","apiVersion":"stable.example.com/v1","metadata":{"name":"x","creationTimestamp":"`+created+`"},"a":{"b":[1]}}`)
	r := rows(t, c, made[1], "v1", table.Object)
	text, err := r.AppendRow(nil, value, now)
	want := `{"cells":["x","5m30s"],"object":{"kind":"CronTab","apiVersion":"stable.example.com/v2","metadata":{"name":"x","creationTimestamp":"` +
		created + `"},"a":{"b":[1]}}}`
	if err != nil || string(text) != want {
		t.Errorf("%v: %s, want %s", err, text, want)
	}
}

// TestInvalidColumns checks that invalid columns in a kind file are errors when it is loaded.
func TestInvalidColumns(t *testing.T) {
	t.Parallel()
	for column, want := range map[string]string{
		"{name: A, type: string}":                                                         "neither value nor render",
		"{name: A, type: text, value: .metadata.name}":                                    "a column must have a name",
		"{type: string, value: .metadata.name}":                                           "a column must have a name",
		"{name: A, type: string, value: metadata.name}":                                   "does not begin with a dot",
		"{name: A, type: string, value: .metadata.nickname}":                              `there is no "nickname"`,
		"{name: A, type: string, value: '.metadata.labels[*]'}":                           "is not a list",
		"{name: A, type: string, value: .metadata.labels}":                                "needs a renderer",
		"{name: A, type: integer, value: .metadata.name}":                                 "needs a renderer",
		"{name: A, type: boolean, value: .metadata.generation}":                           "needs a renderer",
		"{name: A, type: string, value: '.metadata.ownerReferences[*].name'}":             "needs a renderer",
		"{name: A, type: string, render: podStatos}":                                      `there is no renderer "podStatos"`,
		"{name: A, type: integer, render: podStatus}":                                     "does not produce cells of type integer",
		"{name: A, type: string, render: podStatus, value: .metadata.name}":               "does not take a value",
		"{name: A, type: string, render: age}":                                            "does not accept value",
		"{name: A, type: string, render: age, value: .metadata.name}":                     "does not accept value",
		"{name: A, type: string, render: count, value: .metadata.name}":                   "does not accept value",
		"{name: A, type: string, render: pairs, value: .metadata.finalizers}":             "does not accept value",
		"{name: A, type: string, render: selector, value: .metadata}":                     "does not accept value",
		"{name: A, type: integer, render: count, value: .metadata.labels, empty: <none>}": "is never empty",
	} {
		t.Run(column, func(t *testing.T) {
			t.Parallel()
			_, err := table.New(kindWith(t, column))
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
}

// kindWith returns a kind with one column.
func kindWith(t *testing.T, column string) *schema.Kind {
	t.Helper()
	files := fstest.MapFS{"thing.yaml": {Data: []byte("kind: Thing\nversion: v1\napiVersion: v1\nprefix: /api/v1\nplural: things\n" +
		"scope: Namespaced\nmessage: Thing\ncolumns: [" + column + "]\nmessages:\n  Thing: {fields: {apiVersion: {type: string}, kind: {type: string}, " +
		"metadata: {type: ObjectMeta, proto: 1, wire: bytes, emit: always}}}\n")}}
	types, err := kinds.Files.ReadDir("types")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range types {
		data, err := kinds.Files.ReadFile("types/" + file.Name())
		if err != nil {
			t.Fatal(err)
		}
		files["types/"+file.Name()] = &fstest.MapFile{Data: data}
	}
	c, err := schema.Load(files, validation.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	return c.Kind("/api/v1", "things")
}

// TestEveryRendererIsDescribed checks that README.md of package kinds lists all renderers.
func TestEveryRendererIsDescribed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../kinds/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(cells.Renderers())) {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("README.md lacks %s", name)
		}
	}
}

// BenchmarkRow measures the row of a pod.
func BenchmarkRow(b *testing.B) {
	c := catalog(b)
	k := c.Kind("/api/v1", "pods")
	value := stored(b, k, podObject)
	for name, include := range map[string]table.Include{"metadata": table.Metadata, "none": table.None} {
		b.Run(name, func(b *testing.B) {
			r := rows(b, c, k, "v1", include)
			var room []byte
			b.ReportAllocs()
			b.SetBytes(int64(len(value)))
			for b.Loop() {
				var err error
				if room, err = r.AppendRow(room[:0], value, now.Add(time.Second)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
