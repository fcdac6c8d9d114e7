//go:build release

package command_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var release = flag.String("release", "", "name of the folder below testdata/releases to write")

// fullObjects holds an object of every kind with every field set.
const fullObjects = "../../../apiserver/objects/schema/testdata/golden/full/*.json"

// TestWriteRelease writes testdata/releases/NAME with the present build, for later builds to open.
func TestWriteRelease(t *testing.T) {
	if *release == "" || *release != filepath.Base(*release) {
		t.Fatalf("-release %q: want the name of a folder", *release)
	}
	dir, err := filepath.Abs(filepath.Join("testdata", "releases", *release))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	objects, err := filepath.Glob(fullObjects)
	if err != nil || len(objects) == 0 {
		t.Fatal("no objects found: ", err)
	}
	w := &writer{}
	for _, name := range objects {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		w.full = append(w.full, text)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/release_write",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("RELEASE", dir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"create": w.create, "change": w.change, "pack": pack, "signal": signal,
		},
	})
}

// writer creates the objects of a release and remembers their paths.
type writer struct {
	full  [][]byte
	paths []string
}

// create DIR creates an object of every stored kind, ConfigMaps, and an instance of a kind that a
// ThirdPartyResource defines.
func (w *writer) create(ts *testscript.TestScript, _ bool, args []string) {
	send := sender(ts, args[0])
	for _, name := range []string{"team-a", "shop"} {
		send("POST", "/api/v1/namespaces", `{"metadata":{"name":"`+name+`"}}`)
	}
	for _, text := range w.full {
		object := decode(ts, json.NewDecoder(bytes.NewReader(text)))
		if collection := collectionOf(ts, args[0], object); collection != "" {
			w.post(ts, send, collection, prepare(object))
		}
	}
	for _, name := range []string{"c0", "c1", "c2"} {
		w.post(ts, send, shopConfigMaps, map[string]any{"metadata": map[string]any{"name": name, "labels": map[string]any{"l": "x"}},
			"data": map[string]any{"name": name}})
	}
	w.post(ts, send, "/apis/extensions/v1beta1/thirdpartyresources", map[string]any{
		"metadata": map[string]any{"name": "web-hook.stable.example.com"}, "versions": []any{map[string]any{"name": "v1"}}})
	w.post(ts, send, "/apis/stable.example.com/v1/namespaces/shop/webhooks", map[string]any{
		"apiVersion": "stable.example.com/v1", "kind": "WebHook", "metadata": map[string]any{"name": "nightly"},
		"spec": map[string]any{"big": json.Number("12345678901234567890")}})
}

const shopConfigMaps = "/api/v1/namespaces/shop/configmaps"

// change DIR FILE changes and deletes ConfigMaps, one of which a finalizer retains, and writes the
// objects that are served afterwards to FILE.
func (w *writer) change(ts *testscript.TestScript, _ bool, args []string) {
	send := sender(ts, args[0])
	list := send("GET", shopConfigMaps, "")
	metadata, _ := list["metadata"].(map[string]any)
	since, _ := metadata["resourceVersion"].(string)
	send("PATCH", shopConfigMaps+"/c0", `{"metadata":{"labels":{"l":"y"}}}`)
	send("PATCH", shopConfigMaps+"/c1", `{"data":{"k":"v"}}`)
	send("DELETE", shopConfigMaps+"/c2", "")
	send("POST", shopConfigMaps, `{"metadata":{"name":"held","finalizers":["example.com/hold"]}}`)
	send("DELETE", shopConfigMaps+"/held", "")
	send("POST", shopConfigMaps, `{"metadata":{"name":"gone","labels":{"gone":"yes"}}}`)
	send("DELETE", shopConfigMaps+"?labelSelector=gone", "")
	const changes = 7
	out := written{Objects: map[string]map[string]any{}, Since: since}
	for _, path := range append(w.paths, shopConfigMaps+"/held") {
		// Events and Leases expire, so a later build does not serve them.
		if path != shopConfigMaps+"/c2" && !strings.Contains(path, "/events/") && !strings.Contains(path, "/leases/") {
			out.Objects[path] = send("GET", path, "")
		}
	}
	resp := request(ts, args[0], shopConfigMaps+"?watch=true&resourceVersion="+since)
	defer resp.Body.Close()
	for stream := json.NewDecoder(resp.Body); len(out.Events) < changes; {
		out.Events = append(out.Events, decode(ts, stream))
	}
	text, err := json.Marshal(out)
	ts.Check(err)
	ts.Check(os.WriteFile(args[1], text, 0o644))
}

// post creates the object and remembers its path.
func (w *writer) post(ts *testscript.TestScript, send sendFunc, collection string, object map[string]any) {
	text, err := json.Marshal(object)
	ts.Check(err)
	metadata, _ := send("POST", collection, string(text))["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	w.paths = append(w.paths, collection+"/"+name)
}

// collectionOf returns the path at which objects of the kind are created, or nothing where the kind
// is not served or can't be.
func collectionOf(ts *testscript.TestScript, dir string, object map[string]any) string {
	version, _ := object["apiVersion"].(string)
	base := "/apis/" + version
	if !strings.Contains(version, "/") {
		base = "/api/" + version
	}
	resp := request(ts, dir, base)
	defer resp.Body.Close()
	var served struct {
		Resources []struct {
			Name, Kind string
			Namespaced bool
			Verbs      []string
		}
	}
	ts.Check(json.NewDecoder(resp.Body).Decode(&served))
	metadata, _ := object["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	for _, r := range served.Resources {
		stored := strings.Contains(strings.Join(r.Verbs, " "), "list") && !strings.Contains(r.Name, "/")
		switch {
		case r.Kind != object["kind"] || !stored || version == "autoscaling/v1":
		case r.Namespaced:
			return base + "/namespaces/" + namespace + "/" + r.Name
		default:
			return base + "/" + r.Name
		}
	}
	return ""
}

// prepare removes the fields that a new object must not have, or must not have together, from an
// object with every field set.
func prepare(object map[string]any) map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "ownerReferences", "selfLink", "deletionTimestamp",
		"deletionGracePeriodSeconds", "generateName", "generation", "managedFields"} {
		delete(metadata, field)
	}
	spec, _ := object["spec"].(map[string]any)
	switch object["kind"] {
	case "PersistentVolume":
		object["spec"] = map[string]any{"capacity": spec["capacity"], "accessModes": spec["accessModes"],
			"hostPath": map[string]any{"path": "/srv"}}
	case "StatefulSet", "DaemonSet":
		drop(spec, "template", "spec", "activeDeadlineSeconds")
	case "CronJob":
		drop(spec, "jobTemplate", "spec", "selector")
		drop(spec, "jobTemplate", "spec", "manualSelector")
	}
	return object
}

func drop(m map[string]any, path ...string) {
	for _, name := range path[:len(path)-1] {
		m, _ = m[name].(map[string]any)
	}
	delete(m, path[len(path)-1])
}

// sendFunc sends a request as the node's administrator and returns the object in the response. An
// error fails the test.
type sendFunc func(method, path, body string) map[string]any

func sender(ts *testscript.TestScript, dir string) sendFunc {
	config := access(ts, dir)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool(config)}, DisableKeepAlives: true}}
	return func(method, path, body string) map[string]any {
		req, err := http.NewRequest(method, config.Server+path, strings.NewReader(body))
		ts.Check(err)
		req.Header.Set("Authorization", "Bearer "+config.Token)
		req.Header.Set("Content-Type", map[bool]string{true: "application/merge-patch+json", false: "application/json"}[method == "PATCH"])
		resp, err := client.Do(req)
		ts.Check(err)
		defer resp.Body.Close()
		if resp.StatusCode >= 300 {
			text, _ := io.ReadAll(resp.Body)
			ts.Fatalf("%s %s: %s: %s", method, path, resp.Status, text)
		}
		return decode(ts, json.NewDecoder(resp.Body))
	}
}

// pack DIR FILE writes the directory as a compressed archive.
func pack(ts *testscript.TestScript, _ bool, args []string) {
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	ts.Check(archive.AddFS(os.DirFS(ts.MkAbs(args[0]))))
	ts.Check(archive.Close())
	ts.Check(zipped.Close())
	ts.Check(os.WriteFile(args[1], out.Bytes(), 0o644))
}
