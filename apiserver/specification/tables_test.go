package specification

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
	"quorate/apiserver/objects/schema"
)

// asTableV1beta1 is asTable in its first version.
var asTableV1beta1 = strings.Replace(asTable, "v=v1", "v=v1beta1", 1)

// tableRows prove Tables and objects with nothing but their metadata (B24–B29, B31, D8).
var tableRows = []row{
	{"B24", func(t *testing.T, s *testserver.Server) {
		path, _ := configMaps(t, s, "a", "b", "c")
		a := s.Do("GET", path, "", "Accept: "+asTable)
		body := ok(t, a)
		if ct := a.Header.Get("Content-Type"); ct != "application/json" {
			t.Errorf("Content-Type %s", ct)
		}
		plain := ok(t, s.Do("GET", path, ""))
		want(t, body, "kind", "Table", "apiVersion", "meta.k8s.io/v1", "metadata.selfLink", path,
			"metadata.resourceVersion", get(t, plain, "metadata.resourceVersion"), "metadata.continue", "",
			"columnDefinitions.0", `{"description":"What the object is called.","format":"name","name":"Name","priority":0,"type":"string"}`,
			"columnDefinitions.1.name", "Data", "columnDefinitions.2.name", "Age", "rows.0.cells.0", "a", "rows.0.cells.1", "1")
		sameNames(t, body, "a", "b", "c")
		page := ok(t, s.Do("GET", path+"?limit=2", "", "Accept: "+asTable))
		sameNames(t, page, "a", "b")
		want(t, page, "metadata.remainingItemCount", "1")
		rest := ok(t, s.Do("GET", asked(path, "limit", "2", "continue", get(t, page, "metadata.continue")), "", "Accept: "+asTable))
		sameNames(t, rest, "c")
		want(t, rest, "metadata.continue", "", "columnDefinitions.0.name", "Name")
		empty := ok(t, s.Do("GET", collection("ConfigMap", "nowhere"), "", "Accept: "+asTable))
		want(t, empty, "rows", "[]", "columnDefinitions.0.name", "Name")
		yaml := s.Do("GET", path, "", "Accept: "+strings.Replace(asTable, "json", "yaml", 1))
		if want(t, fromYAML(t, ok(t, yaml)), "kind", "Table", "rows.2.object.metadata.name", "c"); yaml.Header.Get("Content-Type") != asYAML {
			t.Errorf("%v", yaml.Header)
		}
		if pretty := ok(t, s.Do("GET", path+"?pretty=true", "", "Accept: "+asTable)); !isPretty(pretty) || get(t, pretty, "rows.1.cells.0") != "b" {
			t.Errorf("pretty: %s", pretty)
		}
	}},
	{"B25", func(t *testing.T, s *testserver.Server) {
		path, _ := configMaps(t, s, "a")
		for _, p := range []string{path, path + "/a"} {
			body := ok(t, s.Do("GET", p, "", "Accept: "+asTableV1beta1))
			want(t, body, "kind", "Table", "apiVersion", "meta.k8s.io/v1beta1", "rows.0.cells.0", "a",
				"rows.0.object.apiVersion", "meta.k8s.io/v1beta1", "rows.0.object.kind", "PartialObjectMetadata")
		}
	}},
	{"B26", func(t *testing.T, s *testserver.Server) {
		path, ns := configMaps(t, s, "a")
		whole := ok(t, s.Do("GET", path+"/a", ""))
		for _, query := range []string{"", "?includeObject=", "?includeObject=Metadata"} {
			body := ok(t, s.Do("GET", path+query, "", "Accept: "+asTable))
			want(t, body, "rows.0.object.kind", "PartialObjectMetadata", "rows.0.object.apiVersion", "meta.k8s.io/v1",
				"rows.0.object.metadata", get(t, whole, "metadata"), "rows.0.object.metadata.namespace", ns, "rows.0.object.data", "")
		}
	}},
	{"B27", func(t *testing.T, s *testserver.Server) {
		path, _ := configMaps(t, s, "a")
		whole := ok(t, s.Do("GET", path+"/a", ""))
		for _, p := range []string{path, path + "/a"} {
			want(t, ok(t, s.Do("GET", p+"?includeObject=Object", "", "Accept: "+asTable)), "rows.0.object", sortedJSON(t, whole))
			none := ok(t, s.Do("GET", p+"?includeObject=None", "", "Accept: "+asTable))
			want(t, none, "rows.0.object", "", "rows.0.cells.0", "a")
			expectInvalid(t, s.Do("GET", p+"?includeObject=Half", "", "Accept: "+asTable), "includeObject", "FieldValueNotSupported", "Metadata")
			ok(t, s.Do("GET", p+"?includeObject=Half", "")) // nothing that a plain answer knows
		}
		expectInvalid(t, s.Do("GET", path+"?watch=true&includeObject=Half", "", "Accept: "+asTable), "includeObject", "FieldValueNotSupported")
	}},
	{"B28", func(t *testing.T, s *testserver.Server) {
		path, ns := configMaps(t, s, "a")
		whole := ok(t, s.Do("GET", path+"/a", ""))
		body := ok(t, s.Do("GET", path+"/a", "", "Accept: "+asTable))
		want(t, body, "metadata.resourceVersion", get(t, whole, "metadata.resourceVersion"), "rows.0.cells.0", "a", "rows.1", "", "columnDefinitions.0.name", "Name")
		expect(t, s.Do("GET", path+"/b", "", "Accept: "+asTable), 404, "NotFound")
		// Writes answer so too, dry or not; a Status stays one.
		made := ok(t, s.Do("POST", path, minimal("ConfigMap", ns, "b"), "Accept: "+asTable))
		dry := ok(t, s.Do("POST", path+"?dryRun=All", minimal("ConfigMap", ns, "c"), "Accept: "+asTable))
		put := ok(t, s.Do("PUT", path+"/b", minimal("ConfigMap", ns, "b", `{"data":{"l":"w"}}`), "Accept: "+asTable))
		patched := ok(t, s.Do("PATCH", path+"/b", `{"data":{"m":"x"}}`, mergePatch, "Accept: "+asTable))
		for name, body := range map[string]string{"b 1": made, "c 1": dry, "b 2": put, "b 3": patched} {
			if got := get(t, body, "rows.0.cells.0") + " " + get(t, body, "rows.0.cells.1"); got != name {
				t.Errorf("%s, want %s: %s", got, name, body)
			}
		}
		want(t, ok(t, s.Do("DELETE", path+"/b", "", "Accept: "+asTable)), "kind", "Status", "status", "Success")
		want(t, ok(t, s.Do("DELETE", path, "", "Accept: "+asTable)), "kind", "Status")
	}},
	{"B29", func(t *testing.T, s *testserver.Server) {
		path, ns := configMaps(t, s, "a", "b")
		w := watch(t, s, watching(path, "resourceVersion", "0"), "Accept: "+asTable)
		first := w.want("ADDED a")
		want(t, first, "kind", "Table", "apiVersion", "meta.k8s.io/v1", "columnDefinitions.0.name", "Name", "rows.0.cells.0", "a", "rows.1", "",
			"rows.0.object.kind", "PartialObjectMetadata")
		if version(t, first) == 0 {
			t.Errorf("no version: %s", first)
		}
		want(t, w.want("ADDED b"), "columnDefinitions", "", "rows.0.cells.0", "b")
		ok(t, s.Do("PUT", path+"/a", minimal("ConfigMap", ns, "a", `{"data":{"l":"w"}}`)))
		want(t, w.want("MODIFIED a"), "columnDefinitions", "", "rows.0.cells.1", "2")
		ok(t, s.Do("DELETE", path+"/b", ""))
		want(t, w.want("DELETED b"), "rows.0.cells.0", "b")
		marked := watch(t, s, watching(path, "sendInitialEvents", "true", "resourceVersionMatch", "NotOlderThan", "allowWatchBookmarks", "true"), "Accept: "+asTable)
		marked.want("ADDED a")
		mark := marked.want("BOOKMARK")
		if want(t, mark, "kind", "Table", "columnDefinitions", "", "rows.1", "",
			"rows.0.cells", `["","0",""]`, "rows.0.object.kind", "PartialObjectMetadata", "rows.0.object.apiVersion", "meta.k8s.io/v1",
			`rows.0.object.metadata.annotations.k8s\.io/initial-events-end`, "true",
			"rows.0.object.metadata.resourceVersion", get(t, mark, "metadata.resourceVersion"), "metadata.annotations", ""); version(t, mark) == 0 {
			t.Errorf("no version: %s", mark)
		}
		broken := watch(t, s, watching(path, "sendInitialEvents", "true", "resourceVersionMatch", "NotOlderThan", "resourceVersion", "99999999"), "Accept: "+asTable)
		want(t, broken.want("ERROR"), "kind", "Status", "code", "504")
	}},
	{"B31", partialObjects},
	{"D8", partialStreams},
}

// configMaps makes ConfigMaps in a namespace of the row's own.
func configMaps(t *testing.T, s *testserver.Server, names ...string) (path, ns string) {
	t.Helper()
	ns = namespace(t, s)
	for _, name := range names {
		create(t, s, "ConfigMap", ns, name)
	}
	return collection("ConfigMap", ns), ns
}

// sortedJSON is a body with its members in the order of their names, as get returns them.
func sortedJSON(t *testing.T, body string) string {
	t.Helper()
	text, err := json.Marshal(parse(t, body))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// partialObjects: what clients that want nothing but metadata are answered.
func partialObjects(t *testing.T, s *testserver.Server) {
	path, ns := configMaps(t, s, "a", "b")
	whole := ok(t, s.Do("GET", path+"/a", ""))
	for _, version := range []string{"v1", "v1beta1"} {
		as := strings.Replace(asPartial, "v=v1", "v="+version, 1)
		body := ok(t, s.Do("GET", path+"/a", "", "Accept: "+as))
		want(t, body, "kind", "PartialObjectMetadata", "apiVersion", "meta.k8s.io/"+version, "metadata", get(t, whole, "metadata"), "data", "")
		list := ok(t, s.Do("GET", path+"?limit=1", "", "Accept: "+as+"List"))
		want(t, list, "kind", "PartialObjectMetadataList", "apiVersion", "meta.k8s.io/"+version, "metadata.selfLink", path, "metadata.remainingItemCount", "1",
			"items.0.kind", "PartialObjectMetadata", "items.0.metadata", get(t, whole, "metadata"), "items.0.data", "", "items.1", "")
		yaml := s.Do("GET", path, "", "Accept: "+strings.Replace(as, "json", "yaml", 1)+"List")
		want(t, fromYAML(t, ok(t, yaml)), "kind", "PartialObjectMetadataList", "items.1.metadata.name", "b")
		for _, name := range []string{asPlatform, asKubernetes} { // protobuf first, as the metadata client asks
			binary := strings.Replace(as, "application/json", name, 1)
			a := s.Do("GET", path+"/a", "", "Accept: "+binary+","+as)
			if got := fromPartial(t, ok(t, a), version); a.Header.Get("Content-Type") != name || got != body {
				t.Errorf("%s: %s, want %s", a.Header.Get("Content-Type"), got, body)
			}
		}
	}
	asked := "Accept: " + strings.Replace(asPartial, "application/json", asKubernetes, 1) + "List"
	sameItems(t, ok(t, s.Do("GET", path, "", asked+","+asPartial+"List")), "a", "b")
	if a := s.Do("GET", path, "", strings.Replace(asked, "v=v1", "v=v1beta1", 1)+","+asPartial+"List"); get(t, ok(t, a), "items.1.metadata.name") != "b" {
		t.Errorf("the first version, whose protobuf is another: %s", a.Body)
	}
	patched := ok(t, s.Do("PATCH", path+"/a", `{"metadata":{"labels":{"x":"y"}}}`, mergePatch, "Accept: "+asPartial))
	want(t, patched, "kind", "PartialObjectMetadata", "metadata.labels.x", "y", "data", "")
	// Kinds without a schema have no protobuf, but their metadata have.
	k := define(t, s, "b31", "v1", "v2")
	ok(t, s.Do("POST", k.path("v1", ns), k.object("v1", "i")))
	for _, version := range []string{"v1", "v2"} {
		got := fromPartial(t, ok(t, s.Do("GET", k.path(version, ns)+"/i", "", "Accept: "+strings.Replace(asPartial, "application/json", asPlatform, 1))), "v1")
		want(t, got, "metadata.name", "i", "metadata.namespace", ns)
	}
	want(t, ok(t, s.Do("GET", k.path("v2", ns), "", "Accept: "+asTable)), "columnDefinitions.1.name", "Age", "rows.0.cells.0", "i")
	want(t, ok(t, s.Do("GET", k.path("v2", ns), "", "Accept: "+asPartial+"List")), "items.0.metadata.name", "i")
}

// partialStreams: watches of metadata, in JSON and protobuf, beside those of Tables and whole
// objects.
func partialStreams(t *testing.T, s *testserver.Server) {
	path, ns := configMaps(t, s, "a")
	tables, metadata := watch(t, s, watching(path, "resourceVersion", "0"), "Accept: "+asTable), watch(t, s, watching(path, "resourceVersion", "0"), "Accept: "+asPartial)
	binary := watch(t, s, watching(path, "sendInitialEvents", "true", "resourceVersionMatch", "NotOlderThan", "allowWatchBookmarks", "true"),
		"Accept: "+strings.Replace(asPartial, "application/json", asKubernetes, 1)+","+asPartial)
	if ct := binary.resp.Header.Get("Content-Type"); ct != asKubernetes+";stream=watch" {
		t.Errorf("Content-Type %s", ct)
	}
	tables.want("ADDED a")
	added := metadata.want("ADDED a")
	want(t, added, "kind", "PartialObjectMetadata", "apiVersion", "meta.k8s.io/v1", "metadata.namespace", ns, "data", "")
	word, object := frame(t, binary)
	if got := fromPartial(t, object, "v1"); word != "ADDED" || got != added {
		t.Errorf("%s %s, want %s", word, got, added)
	}
	word, object = frame(t, binary)
	mark := fromPartial(t, object, "v1")
	if want(t, mark, "metadata.annotations", `{"k8s.io/initial-events-end":"true"}`); word != "BOOKMARK" || version(t, mark) == 0 {
		t.Errorf("%s %s", word, mark)
	}
	ok(t, s.Do("PATCH", path+"/a", `{"metadata":{"labels":{"x":"y"}}}`, mergePatch))
	tables.want("MODIFIED a")
	modified := metadata.want("MODIFIED a")
	want(t, modified, "metadata.labels.x", "y", "data", "")
	word, object = frame(t, binary)
	if got := fromPartial(t, object, "v1"); word != "MODIFIED" || got != modified {
		t.Errorf("%s %s, want %s", word, got, modified)
	}
	ok(t, s.Do("DELETE", path+"/a", ""))
	tables.want("DELETED a")
	metadata.want("DELETED a")
	marked := watch(t, s, watching(path, "sendInitialEvents", "true", "resourceVersionMatch", "NotOlderThan", "allowWatchBookmarks", "true"), "Accept: "+asPartial)
	want(t, marked.want("BOOKMARK"), "kind", "PartialObjectMetadata", "apiVersion", "meta.k8s.io/v1")
}

// fromPartial is the JSON of an object with nothing but metadata that came in protobuf.
func fromPartial(t *testing.T, body, version string) string {
	t.Helper()
	apiVersion, kind, raw, err := schema.CutEnvelope([]byte(body))
	if err != nil || apiVersion != "meta.k8s.io/"+version || kind != "PartialObjectMetadata" {
		t.Fatalf("%s %s, %v: %q", apiVersion, kind, err, body)
	}
	return partialOf(t, string(raw), version)
}

// partialOf is the JSON of PartialObjectMetadata{1: metadata}.
func partialOf(t *testing.T, raw, version string) string {
	t.Helper()
	c, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	if _, rest := member(t, []byte(raw), 1); rest != "" {
		t.Errorf("more than metadata: %q", rest)
	}
	o, _, err := c.Unstored("meta.k8s.io/"+version, "PartialObjectMetadata").DecodeProtobuf([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return string(o.AppendJSON(nil))
}

// sameItems expects a PartialObjectMetadataList{1: ListMeta, 2: items} in protobuf with items of
// these names.
func sameItems(t *testing.T, body string, names ...string) {
	t.Helper()
	apiVersion, kind, raw, err := schema.CutEnvelope([]byte(body))
	if err != nil || apiVersion != "meta.k8s.io/v1" || kind != "PartialObjectMetadataList" {
		t.Fatalf("%s %s, %v: %q", apiVersion, kind, err, body)
	}
	_, rest := member(t, raw, 1)
	var found []string
	for rest != "" {
		var object string
		object, rest = member(t, []byte(rest), 2)
		found = append(found, get(t, partialOf(t, object, "v1"), "metadata.name"))
	}
	if !slices.Equal(found, names) {
		t.Errorf("found %v, want %v", found, names)
	}
}
