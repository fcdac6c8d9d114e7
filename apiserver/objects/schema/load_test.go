package schema

import (
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"quorate/apiserver/kinds"
)

// engine compiles the project's kinds without their hooks.
func engine(t testing.TB) *Catalog {
	t.Helper()
	cat, err := load(kinds.Files, nil)
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

// files returns the project's kind and type files with the files in more added or replaced.
func files(t testing.TB, more map[string]string) fs.FS {
	t.Helper()
	out := fstest.MapFS{}
	err := fs.WalkDir(kinds.Files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(kinds.Files, path)
		out[path] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range more {
		out[path] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

const widget = `
kind: Widget
group: example.io
version: v1
apiVersion: example.io/v1
prefix: /apis/example.io/v1
plural: widgets
scope: Namespaced
message: Widget
fieldSelectors: {supported: [metadata.name, spec.on]}
messages:
  Widget:
    fields:
      apiVersion: {type: string}
      kind: {type: string}
      metadata: {type: ObjectMeta, proto: 1, emit: always}
      spec: {type: WidgetSpec, proto: 2}
  WidgetSpec:
    fields:
      size: {type: int32, default: 3, max: 9}
      ratio: {type: double}
      on: {type: bool}
      parts: {type: 'list<WidgetSpec>'}
`

// TestDefaultsInListsAndMaps checks that defaults are set in the items of lists and the values of
// maps, and that defaulting creates no empty messages.
func TestDefaultsInListsAndMaps(t *testing.T) {
	cat, err := load(files(t, map[string]string{"widget.yaml": widget +
		"      named: {type: 'map<string,WidgetSpec>'}\n      rest: {type: WidgetRest}\n" +
		"  WidgetRest:\n    fields:\n      parts: {type: 'list<WidgetSpec>'}\n"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	k := cat.Kind("/apis/example.io/v1", "widgets")
	o := decode(t, k, `{"metadata":{"name":"w","namespace":"n"},"spec":{"parts":[{}],"named":{"a":{}}}}`)
	k.Default(o)
	want := `{"kind":"Widget","apiVersion":"example.io/v1","metadata":{"name":"w","namespace":"n","creationTimestamp":null},` +
		`"spec":{"size":3,"parts":[{"size":3}],"named":{"a":{"size":3}}}}`
	if got := string(o.AppendJSON(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if o.Root().Lookup("spec").Field("rest").IsSet() {
		t.Error("a message without anything in it is set")
	}
}

func TestKindFromFile(t *testing.T) {
	cat, err := load(files(t, map[string]string{"widget.yaml": widget}), nil)
	if err != nil {
		t.Fatal(err)
	}
	k := cat.Kind("/apis/example.io/v1", "widgets")
	if k.Singular != "widget" || k.ListKind != "WidgetList" || k.Resource != "example.io/widgets" || !k.Strategy.AllowUnconditionalUpdate {
		t.Errorf("got %+v", k.Identity)
	}
	if k.Operations != namespacedOperations {
		t.Errorf("operations %b", k.Operations)
	}
	enc := create(t, k, []byte(`{"metadata":{"name":"w","namespace":"n"},"spec":{"ratio":0.25,"on":true,"parts":[{},{"size":4}]}}`))
	want := `{"kind":"Widget","apiVersion":"example.io/v1","metadata":{"name":"w","namespace":"n","uid":"01234567-89ab-cdef-0123-456789abcdef",` +
		`"resourceVersion":"","creationTimestamp":"2018-01-02T03:04:05Z"},"spec":{"size":3,"ratio":0.25,"on":true,"parts":[{"size":3},{"size":4}]}}`
	if string(enc.Value) != want {
		t.Errorf("got  %s\nwant %s", enc.Value, want)
	}
	if got, _ := enc.Fields.Get("spec.on"); got != "true" {
		t.Errorf("fields %q", enc.Fields)
	}
}

// small returns the type files, one kind and a widget. They load faster than all kinds.
func small(t testing.TB, widget string) fs.FS {
	t.Helper()
	all, ok := files(t, map[string]string{"widget.yaml": widget}).(fstest.MapFS)
	if !ok {
		t.Fatal("not a map")
	}
	maps.DeleteFunc(all, func(name string, _ *fstest.MapFile) bool {
		return !strings.HasPrefix(name, "types/") && name != "pod.yaml" && name != "widget.yaml"
	})
	return all
}

func TestLoadIsStrict(t *testing.T) {
	hooks := everyHook(t)
	edit := func(old, new string) string { return strings.Replace(widget, old, new, 1) }
	version := func(more string) string {
		return "kind: Pod\ngroup: ''\nversion: v2\napiVersion: v2\nprefix: /api/v2\n" + more
	}
	for name, tc := range map[string]struct{ text, want string }{
		"unknown_kind_key":      {edit("scope:", "scop: x\nscope:"), `widget.yaml: line 8: unknown key "scop"`},
		"unknown_field_key":     {edit("max: 9", "maxx: 9"), `widget.yaml: WidgetSpec: size: line 20: unknown key "maxx"`},
		"unknown_type":          {edit("type: double", "type: decimal"), `widget.yaml: message Widget: field spec: widget.yaml: message WidgetSpec: field ratio: there is no type "decimal"`},
		"unknown_message":       {edit("type: ObjectMeta", "type: Meta"), `widget.yaml: message Widget: field metadata: there is no message "Meta"`},
		"unknown_format":        {edit("max: 9", "format: odd"), `field size: format: there is no format "odd"`},
		"unknown_hook":          {edit("max: 9", "validate: [odd]"), `field size: validate: there is no hook "odd" of that type`},
		"unknown_operation":     {edit("fieldSelectors:", "operations: {notOffered: [fly]}\nfieldSelectors:"), `operations.notOffered: unknown operation "fly"`},
		"unknown_selector":      {edit("spec.on", "spec.off"), `fieldSelectors: spec.off: there is no field "spec.off"`},
		"check_of_another_type": {edit("type: bool", "type: bool, itemEnum: [a]"), `item checks on a field that is not a list`},
		"bad_default":           {edit("default: 3", "default: three"), `field size: default: json: cannot unmarshal string`},
		"duplicate_message":     {edit("  WidgetSpec:", "  Pod:"), `message Pod is also defined in pod.yaml`},
		"duplicate_route":       {edit("prefix: /apis/example.io/v1\nplural: widgets", "prefix: /api/v1\nplural: pods"), `another file has the route /api/v1/pods`},
		"recursive_message":     {edit("ratio: {type: double}", "ratio: {type: WidgetSpec, emit: always}"), `message WidgetSpec always contains itself`},
		"wrong_apiVersion":      {edit("apiVersion: example.io/v1", "apiVersion: v1"), `apiVersion: "v1" is not "example.io/v1"`},
		"wrong_scope":           {edit("Namespaced", "Galactic"), `scope: "Galactic" is neither`},
		"view_of_nothing":       {edit("message: Widget", "message: Widget\nstorage: example.io/gadgets\nhooks: {toStorage: a, fromStorage: a}"), `no kind is stored as example.io/gadgets`},
		"view_without_hooks":    {edit("message: Widget", "message: Widget\nstorage: pods"), `field spec: its type is not that of spec in Pod`},
		"view_of_one_way":       {edit("message: Widget", "message: Widget\nstorage: pods\nhooks: {toStorage: a}"), `require each other`},
		"version_of_nothing":    {version("storage: example.io/gadgets"), `widget.yaml: storage: no kind is stored as example.io/gadgets`},
		"version_with_more":     {version("storage: pods\nplural: widgets"), `another version or group of pods must have only names`},
	} {
		t.Run(name, func(t *testing.T) {
			hooks.Converters["a"] = func(_, _ *Object) {}
			_, err := Load(small(t, tc.text), hooks)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
		})
	}
}

// everyHook returns a hook without effect for each hook name in the project's files.
func everyHook(t testing.TB) Hooks {
	t.Helper()
	src, err := readSources(kinds.Files)
	if err != nil {
		t.Fatal(err)
	}
	h := Hooks{
		Validators: map[string]Validator{}, Conditions: map[string]Condition{}, Defaulters: map[string]Defaulter{},
		Comparisons: map[string]Comparison{}, Steps: map[string]Step{}, Converters: map[string]Converter{},
	}
	for _, m := range src.messages {
		h.addMessage(m.spec)
	}
	for _, k := range src.kinds {
		s := k.spec.Hooks
		for _, names := range [][]string{s.AfterDecode, s.PrepareForCreate, s.PrepareForUpdate, s.PrepareForStatusUpdate, s.PrepareForFinalize, s.Canonicalize} {
			for _, name := range names {
				h.Steps[name] = func(*Context) {}
			}
		}
		for _, name := range s.Validate {
			h.Validators[name] = func(*Context, *Value) {}
		}
		for _, name := range s.ValidateUpdate {
			h.Comparisons[name] = func(_ *Context, _, _ *Value) {}
		}
		h.Converters[s.ToStorage] = func(_, _ *Object) {}
		h.Converters[s.FromStorage] = func(_, _ *Object) {}
	}
	return h
}

func (h Hooks) addMessage(m *MessageSpec) {
	for _, name := range m.Validate {
		h.Validators[name] = func(*Context, *Value) {}
	}
	h.Defaulters[m.Defaulter] = func(*Context, *Value) {}
	for _, f := range m.Fields {
		for _, name := range f.spec.Validate {
			h.Validators[name] = func(*Context, *Value) {}
		}
		h.Conditions[f.spec.RequiredIf] = func(*Context, *Value) bool { return false }
		h.Conditions[f.spec.DefaultIf] = func(*Context, *Value) bool { return true }
		h.Defaulters[f.spec.Defaulter] = func(*Context, *Value) {}
		h.Comparisons[f.spec.ImmutableCheck] = func(_ *Context, _, _ *Value) {}
	}
}

func TestKinds(t *testing.T) {
	cat := engine(t)
	resources := map[string]string{}
	for _, k := range cat.Kinds() {
		resources[k.Prefix+"/"+k.Plural] = k.Resource
	}
	for route, want := range map[string]string{
		"/api/v1/pods": "pods", "/oapi/v1/hostsubnets": "hostsubnets", "/apis/apps/v1beta2/daemonsets": "apps/daemonsets",
		"/apis/rbac.authorization.platform.io/v1/clusterrolebindings": "rbac.authorization.platform.io/clusterrolebindings",
	} {
		if resources[route] != want {
			t.Errorf("%s is stored as %q, want %q", route, resources[route], want)
		}
	}
}

func TestOperations(t *testing.T) {
	cat := engine(t)
	pods, legacy := cat.Kind("/api/v1", "pods"), cat.Kind("/oapi/v1", "clusterrolebindings")
	namespaces, pvs := cat.Kind("/api/v1", "namespaces"), cat.Kind("/api/v1", "persistentvolumes")
	for name, tc := range map[string]struct {
		kind    *Kind
		offered Operations
		not     Operations
	}{
		"cut_rows_get_the_whole_table_Z16":   {pods, namespacedOperations | statusOperations, OpFinalizeReplace},
		"legacy_bindings_are_not_watched_Z9": {legacy, OpCreate | OpRead | OpList | OpReplace | OpPatch | OpDelete, OpWatchQuery | OpWatchOne | OpWatchAll | OpDeleteCollection},
		"namespaces":                         {namespaces, OpFinalizeReplace | statusOperations | OpDelete, OpDeleteCollection},
		"persistent_volumes_Z12":             {pvs, statusOperations | OpDeleteCollection, OpCreateClusterWide},
	} {
		t.Run(name, func(t *testing.T) {
			if !tc.kind.Operations.Has(tc.offered) || tc.kind.Operations&tc.not != 0 {
				t.Errorf("got %017b", tc.kind.Operations)
			}
		})
	}
}
