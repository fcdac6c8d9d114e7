package patch_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"quorate/apiserver/objects/patch"
	"quorate/apiserver/wire/status"
)

// maxFuzzed limits the size of inputs, so that fuzzing can try many.
const maxFuzzed = 1 << 16

// fuzzed applies a patch and checks what must hold for all patches: failures are client errors, the
// result is valid JSON and the same when the patch is applied again, the result of a patch that is
// not a JSON patch is not longer than both inputs, and the document does not change. ok is false if
// there is no result.
func fuzzed(t *testing.T, kinds []string, typ patch.Type, document, body []byte) (out []byte, ok bool) {
	t.Helper()
	if len(document)+len(body) > maxFuzzed || !json.Valid(document) {
		return nil, false
	}
	if live, err := patch.Parse(patch.Merge, document); err != nil || len(live.Problems()) > 0 {
		return nil, false // stored documents are objects without duplicate names
	}
	p, err := patch.Parse(typ, body)
	if err != nil {
		requireClientError(t, err)
		return nil, false
	}
	for _, plural := range kinds {
		before := bytes.Clone(document)
		out, err = p.Apply(kind(t, "/api/v1", plural), document)
		if !bytes.Equal(before, document) {
			t.Fatalf("the document is now %s", document)
		}
		again, errAgain := p.Apply(kind(t, "/api/v1", plural), document)
		if !bytes.Equal(out, again) || (err == nil) != (errAgain == nil) {
			t.Fatalf("once %s, %v; then %s, %v", out, err, again, errAgain)
		}
		if err != nil {
			requireClientError(t, err)
			out = nil
			continue
		}
		if !json.Valid(out) {
			t.Fatalf("%s of %s gives %s", body, document, out)
		}
		if limit := len(document) + len(body); typ != patch.JSON && len(out) > limit {
			t.Fatalf("%d bytes give %d: %s", limit, len(out), out)
		}
	}
	return out, out != nil
}

func requireClientError(t *testing.T, err error) {
	t.Helper()
	failed, ok := errors.AsType[*status.Error](err)
	if !ok || failed.Status.Code < 400 || failed.Status.Code >= 500 {
		t.Fatalf("%v", err)
	}
}

const podSeed = `{"metadata":{"labels":{"a":"1"},"finalizers":["x/1","x/2"]},"spec":{"containers":[{"name":"a","env":[{"name":"E"}],"args":["1"]},{"name":"b"}],"volumes":null}}`

func FuzzJSONPatch(f *testing.F) {
	for _, body := range []string{
		`[]`, `[{"op":"add","path":"/spec/containers/0/args/-","value":"2"},{"op":"test","path":"/spec/volumes","value":null}]`,
		`[{"op":"copy","from":"","path":"/x"},{"op":"move","from":"/x/metadata","path":"/spec/containers/1"}]`,
		`[{"op":"remove","path":"/metadata/labels/a"},{"op":"replace","path":"/metadata/finalizers/-1","value":{"~":[null]}},{"op":"remove","path":"/metadata/finalizers/1/~0"}]`,
		`[{"op":"replace","path":"","value":[1]},{"op":"add","path":"/0","value":2},{"op":"test","path":"","value":[2,1.0]}]`,
	} {
		f.Add([]byte(podSeed), []byte(body))
	}
	f.Fuzz(func(t *testing.T, document, body []byte) {
		out, ok := fuzzed(t, []string{"pods"}, patch.JSON, document, body)
		const limit = maxFuzzed + 2*status.MaxObjectBytes + 4<<20
		if ok && len(out) > limit {
			t.Fatalf("%d bytes", len(out))
		}
	})
}

func FuzzMergePatch(f *testing.F) {
	for _, body := range []string{`{}`, `{"metadata":{"labels":{"a":null,"b":"2"}},"spec":{"containers":[{}],"volumes":{"x":null,"y":{"z":null}}}}`, `{"a":1,"\u0061":{"b":2}}`} {
		f.Add([]byte(podSeed), []byte(body))
	}
	f.Fuzz(func(t *testing.T, document, body []byte) {
		out, ok := fuzzed(t, []string{"pods"}, patch.Merge, document, body)
		if !ok {
			return
		}
		want := naiveMerge(exact(t, document), exact(t, body).(map[string]any))
		if got := exact(t, out); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s of %s gives %s, not %v", body, document, out, want)
		}
	})
}

// exact decodes JSON without changing the form of numbers.
func exact(t *testing.T, text []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// naiveMerge is the algorithm of RFC 7386 §2.
func naiveMerge(target any, patch map[string]any) any {
	object, ok := target.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	for name, value := range patch {
		switch value := value.(type) {
		case nil:
			delete(object, name)
		case map[string]any:
			object[name] = naiveMerge(object[name], value)
		default:
			object[name] = value
		}
	}
	return object
}

func FuzzStrategicPatch(f *testing.F) {
	for _, body := range []string{
		`{}`, `{"metadata":{"$setElementOrder/finalizers":["x/2","x/3"],"finalizers":["x/3"],"$deleteFromPrimitiveList/finalizers":["x/1"],"labels":{"$patch":"replace"}}}`,
		`{"spec":{"$setElementOrder/containers":[{"name":"c"},{"name":"a"}],"containers":[{"name":"c"},{"name":"a","env":[{"name":"E","$patch":"delete"}]},{"name":"b","$patch":"delete"}]}}`,
		`{"spec":{"containers":[{"$patch":"replace"},{"name":"z","$retainKeys":["name"]}],"volumes":[{"name":"v","$retainKeys":["name","emptyDir"],"emptyDir":{}}]}}`,
		`{"$patch":"delete"}`, `{"$patch":"merge","foo":{"$patch":"x"},"containerImageMetadata":{"a":null}}`,
	} {
		f.Add([]byte(podSeed), []byte(body))
	}
	f.Fuzz(func(t *testing.T, document, body []byte) {
		fuzzed(t, []string{"pods", "nodes", "configmaps"}, patch.Strategic, document, body)
	})
}
