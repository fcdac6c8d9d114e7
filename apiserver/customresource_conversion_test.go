package apiserver_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// hook is a webhook that converts Widgets: spec.size of v1 is spec.width of v2.
type hook struct {
	*httptest.Server
	calls  atomic.Int64
	broken atomic.Pointer[http.HandlerFunc] // answers in place of the webhook, unless it is nil
	// accepted is the one version of ConversionReview that is answered, or nil.
	accepted atomic.Pointer[string]
}

func startHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{}
	h.Server = httptest.NewTLSServer(http.HandlerFunc(h.serve))
	t.Cleanup(h.Close)
	return h
}

func (h *hook) serve(w http.ResponseWriter, r *http.Request) {
	h.calls.Add(1)
	if broken := h.broken.Load(); broken != nil {
		(*broken)(w, r)
		return
	}
	var review struct {
		Request struct {
			UID, DesiredAPIVersion string
			Objects                []map[string]any
		}
		APIVersion string
	}
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if accepted := h.accepted.Load(); accepted != nil && review.APIVersion != *accepted {
		http.Error(w, "unknown version of ConversionReview", http.StatusBadRequest)
		return
	}
	from, to := "size", "width"
	if strings.HasSuffix(review.Request.DesiredAPIVersion, "/v1") {
		from, to = to, from
	}
	for _, o := range review.Request.Objects {
		o["apiVersion"] = review.Request.DesiredAPIVersion
		if spec, ok := o["spec"].(map[string]any); ok && spec[from] != nil {
			spec[to] = spec[from]
			delete(spec, from)
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": review.APIVersion, "kind": "ConversionReview", "response": map[string]any{
		"uid": review.Request.UID, "convertedObjects": review.Request.Objects, "result": map[string]any{"status": "Success"},
	}})
}

// convertedDefinition defines Widgets whose versions a webhook converts.
func convertedDefinition(h *hook) string {
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw}))
	version := func(name, stored, fields string) string {
		return `{"name":"` + name + `","served":true,"storage":` + stored + `,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}},
			"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{` + fields + `,"replicas":{"type":"integer"}}},"status":{"type":"object","properties":{"phase":{"type":"string"}}}}}}}`
	}
	return strings.Replace(definitionOf("widgets", "Widget", "Namespaced",
		version("v1", "true", `"size":{"type":"integer"}`), version("v2", "false", `"width":{"type":"integer"},"extra":{"type":"string","default":"x"}`)),
		`"scope"`, `"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"`+h.URL+`","caBundle":"`+ca+`"}}},"scope"`, 1)
}

const widgetsV2 = "/apis/shop.example.com/v2/namespaces/default/widgets"

func widgetV2(name, spec string) string {
	return strings.Replace(widget(name, spec), "/v1", "/v2", 1)
}

// TestCustomResourceConversion: a webhook converts objects between the version in which they are
// stored and that of a request, in reads and writes of all kinds.
func TestCustomResourceConversion(t *testing.T) {
	t.Parallel()
	h := startHook(t)
	s := testserver.Start(t, nil)
	establish(t, s, widgetsName, convertedDefinition(h))

	check(t, s.Do("POST", widgets, widget("a", `{"size":1}`)), want{code: 201, body: []string{`"spec":{"size":1}`}})
	if n := h.calls.Load(); n != 0 {
		t.Errorf("%d calls for an object in the version that is stored", n)
	}
	v2 := []string{`"apiVersion":"shop.example.com/v2"`, `"spec":{"extra":"x","width":1}`, `"selfLink":"` + widgetsV2 + `/a"`}
	check(t, s.Do("GET", widgetsV2+"/a", ""), want{code: 200, body: v2})
	check(t, s.Do("POST", widgetsV2, widgetV2("b", `{"width":2,"extra":"y"}`)), want{code: 201, body: []string{`"spec":{"extra":"x","width":2}`}})
	check(t, s.Do("GET", widgets+"/b", ""), want{code: 200, body: []string{`"spec":{"size":2}`}})
	check(t, patchAs(s, "merge", widgetsV2+"/a", `{"spec":{"width":3}}`), want{code: 200, body: []string{`"width":3`, `"generation":2`}})
	check(t, patchAs(s, "merge", widgetsV2+"/a/status", `{"status":{"phase":"p"}}`), want{code: 200, body: []string{`"phase":"p"`, `"width":3`}})
	check(t, patchAs(s, "merge", widgetsV2+"/a/scale", `{"spec":{"replicas":4}}`), want{code: 200, body: []string{`"replicas":4`}})
	check(t, s.Do("PATCH", widgetsV2+"/c?fieldManager=m", widgetV2("c", `{"width":5}`), "Content-Type: application/apply-patch+yaml"), want{code: 201, body: []string{`"width":5`}})
	check(t, s.Do("PATCH", widgets+"/c?fieldManager=n", widget("c", `{"size":6}`), "Content-Type: application/apply-patch+yaml"),
		want{code: 409, body: []string{`"field":".spec.width"`}})
	check(t, s.Do("PATCH", widgetsV2+"/c?fieldManager=m", widgetV2("c", `{"width":7}`), "Content-Type: application/apply-patch+yaml"), want{code: 200, body: []string{`"width":7`}})
	check(t, s.Do("GET", widgets+"/a", ""), want{code: 200, body: []string{`"spec":{"replicas":4,"size":3}`, `"phase":"p"`}})

	t.Run("lists are converted by one call", func(t *testing.T) {
		for i := range 50 {
			check(t, s.Do("POST", widgets, widget(fmt.Sprint("many-", i), fmt.Sprintf(`{"size":%d}`, i))), want{code: 201})
		}
		for _, accept := range []string{"application/json", "application/json;as=Table;g=meta.k8s.io;v=v1", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"} {
			before := h.calls.Load()
			got := s.Do("GET", widgetsV2, "", "Accept: "+accept)
			if got.Code != 200 || !strings.Contains(got.Body, "many-49") || accept == "application/json" && !strings.Contains(got.Body, `"width":49`) {
				t.Errorf("%s: %d %.300s", accept, got.Code, got.Body)
			}
			if n := h.calls.Load() - before; n != 1 {
				t.Errorf("%s: %d calls", accept, n)
			}
		}
		check(t, s.Do("GET", widgetsV2+"?limit=10", ""), want{code: 200, body: []string{`"width":`, `"continue":"`}})
	})
	t.Run("watches get events in order", func(t *testing.T) {
		var streams []*customWatch
		for range 3 {
			streams = append(streams, &customWatch{open(t, s, widgetsV2+"?watch=true&fieldSelector=metadata.name%3Dw"), "v2", `"extra":"x"`, `"size"`})
		}
		check(t, s.Do("POST", widgets, widget("w", `{"size":0}`)), want{code: 201})
		for i := range 20 {
			check(t, patchAs(s, "merge", widgets+"/w", fmt.Sprintf(`{"spec":{"size":%d}}`, i+1)), want{code: 200})
		}
		check(t, s.Do("DELETE", widgets+"/w", ""), want{code: 200})
		for _, w := range streams {
			w.expect("ADDED w")
			for i := range 20 {
				w.has = fmt.Sprintf(`"width":%d}`, i+1)
				w.expect("MODIFIED w")
			}
			w.expect("DELETED w")
		}
	})
}

// TestCustomResourceConversionFails: while the webhook does not work, requests that need it fail
// with its error, and all others go on: those for the stored version, for other kinds, and deletes.
func TestCustomResourceConversionFails(t *testing.T) {
	t.Parallel()
	h := startHook(t)
	s := testserver.Start(t, nil)
	establish(t, s, widgetsName, convertedDefinition(h))
	check(t, s.Do("POST", widgets, widget("a", `{"size":1}`)), want{code: 201})
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	for name, broken := range map[string]http.HandlerFunc{
		"lies":  func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"kind":"ConversionReview"}`) },
		"dies":  func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"hangs": func(_ http.ResponseWriter, r *http.Request) { <-release },
	} {
		h.broken.Store(&broken)
		const text = "conversion webhook for shop.example.com/v1, Kind=Widget failed: "
		failing := make(chan testserver.Answer)
		go func() { failing <- s.Do("GET", widgetsV2+"/a", "") }()
		check(t, s.Do("GET", widgets+"/a", ""), want{code: 200})
		check(t, s.Do("GET", widgets, ""), want{code: 200})
		check(t, s.Do("GET", "/api/v1/namespaces", ""), want{code: 200})
		check(t, patchAs(s, "merge", widgets+"/a", `{"metadata":{"labels":{"while":"`+name+`"}}}`), want{code: 200})
		check(t, <-failing, want{code: 500, reason: "InternalError", body: []string{text}})
		if name == "hangs" {
			continue
		}
		check(t, s.Do("GET", widgetsV2, ""), want{code: 500, body: []string{text}})
		check(t, s.Do("POST", widgetsV2, widgetV2("n", `{"width":1}`)), want{code: 500, body: []string{"conversion webhook for shop.example.com/v2, Kind=Widget failed: "}})
		check(t, patchAs(s, "merge", widgetsV2+"/a", `{"spec":{"width":2}}`), want{code: 500, body: []string{text}})
		if event, object := open(t, s, widgetsV2+"?watch=true&resourceVersion=0").next(); !strings.HasPrefix(event, "ERROR") || !strings.Contains(object, text) {
			t.Errorf("%s: watched %s %s", name, event, object)
		}
	}
	h.broken.Store(nil)
	check(t, s.Do("GET", widgetsV2+"/a", ""), want{code: 200, body: []string{`"width":1`}})
	down := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	h.broken.Store(&down)
	check(t, s.Do("POST", widgets, widget("a", `{"size":1}`)), want{code: 409, reason: "AlreadyExists"})
	check(t, s.Do("DELETE", widgetsV2+"/a", ""), want{code: 200})
	check(t, s.Do("GET", widgets+"/a", ""), want{code: 404})
}

// TestStorageMigration: objects stay in the version in which they were stored until they are
// written again, an update without a change included. A version can be dropped once no object is in
// it.
func TestStorageMigration(t *testing.T) {
	t.Parallel()
	h := startHook(t)
	s := testserver.Start(t, nil)
	establish(t, s, widgetsName, convertedDefinition(h))
	check(t, s.Do("POST", widgets, widget("a", `{"size":1}`)), want{code: 201})
	check(t, s.Do("POST", widgets, strings.Replace(widget("kept", `{"size":2}`), `"name"`, `"finalizers":["e.com/f"],"name"`, 1)), want{code: 201})

	check(t, patchAs(s, "json", definitions+"/"+widgetsName, `[{"op":"replace","path":"/spec/versions/0/storage","value":false},
		{"op":"replace","path":"/spec/versions/1/storage","value":true}]`), want{code: 200, body: []string{`"storedVersions":["v1","v2"]`}})
	reads := func(path, name string) int64 {
		before := h.calls.Load()
		check(t, s.Do("GET", path+"/"+name, ""), want{code: 200})
		return h.calls.Load() - before
	}
	if n := reads(widgets, "a"); n != 0 {
		t.Errorf("%d calls to read an object of v1 as v1", n)
	}
	// A delete that only marks the object leaves it in its version.
	check(t, s.Do("DELETE", widgets+"/kept", ""), want{code: 200})
	check(t, s.Do("GET", widgets+"/kept", ""), want{code: 200, body: []string{`"size":2`, `"deletionTimestamp"`}})
	check(t, s.Do("GET", widgetsV2+"/kept", ""), want{code: 200, body: []string{`"width":2`}})

	check(t, patchAs(s, "json", definitions+"/"+widgetsName, `[{"op":"remove","path":"/spec/versions/0"}]`),
		want{code: 422, body: []string{`"field":"status.storedVersions[0]"`, "must remain in spec.versions until"}})
	was := field(t, s.Do("GET", widgetsV2+"/a", "").Body, "metadata.resourceVersion")
	got := s.Do("PUT", widgetsV2+"/a", s.Do("GET", widgetsV2+"/a", "").Body)
	check(t, got, want{code: 200, body: []string{`"width":1`, `"generation":1`}})
	if now := field(t, got.Body, "metadata.resourceVersion"); now == was {
		t.Error("an update without a change has not written the object in the new version")
	}
	if n := reads(widgetsV2, "a"); n != 0 {
		t.Errorf("%d calls to read an object of v2 as v2", n)
	}
	now := field(t, s.Do("PUT", widgetsV2+"/a", s.Do("GET", widgetsV2+"/a", "").Body).Body, "metadata.resourceVersion")
	if again := field(t, s.Do("PUT", widgetsV2+"/a", s.Do("GET", widgetsV2+"/a", "").Body).Body, "metadata.resourceVersion"); again != now {
		t.Error("an update without a change has written an object that was in the new version")
	}
	check(t, patchAs(s, "merge", widgetsV2+"/kept", `{"metadata":{"finalizers":null}}`), want{code: 200})

	check(t, patchAs(s, "merge", definitions+"/"+widgetsName+"/status", `{"status":{"storedVersions":["v2"]}}`), want{code: 200, body: []string{`"storedVersions":["v2"]`}})
	check(t, patchAs(s, "json", definitions+"/"+widgetsName, `[{"op":"remove","path":"/spec/versions/0"}]`), want{code: 200})
	check(t, s.Do("GET", widgetsV2+"/a", ""), want{code: 200, body: []string{`"width":1`}})
}

// TestConversionCertificatesToBeFilledIn: a definition with a placeholder in place of certificates is
// accepted and not served until they are there, and cannot lose them later.
func TestConversionCertificatesToBeFilledIn(t *testing.T) {
	t.Parallel()
	h := startHook(t)
	s := testserver.Start(t, nil)
	filled := convertedDefinition(h)
	bundle := strings.Split(strings.Split(filled, `"caBundle":"`)[1], `"`)[0]
	one := definitions + "/" + widgetsName
	fill := func(with string) testserver.Answer {
		return patchAs(s, "merge", one, `{"spec":{"conversion":{"webhook":{"clientConfig":{"caBundle":"`+with+`"}}}}}`)
	}
	check(t, s.Do("POST", definitions, strings.Replace(filled, bundle, "Cg==", 1)), want{code: 201, body: []string{`"caBundle":"Cg=="`}})
	if reason := awaitCondition(t, s, widgetsName, "Established", "False"); reason != "InvalidCABundle" {
		t.Errorf("not established because of %s", reason)
	}
	check(t, s.Do("POST", widgets, widget("a", `{"size":1}`)), want{code: 404})
	check(t, fill("eA=="), want{code: 200})
	check(t, fill(bundle), want{code: 200})
	check(t, s.Do("POST", widgets, widget("a", `{"size":1}`)), want{code: 201})
	awaitCondition(t, s, widgetsName, "Established", "True")
	check(t, fill("Cg=="), want{422, "Invalid", "unable to load root certificates", []string{`"field":"spec.conversion.webhookClientConfig.caBundle"`}})
	check(t, s.Do("GET", widgetsV2+"/a", ""), want{code: 200, body: []string{`"width":1`}})
}

// TestConversionByBeta: a webhook that accepts reviews in v1beta1 alone converts, too.
func TestConversionByBeta(t *testing.T) {
	t.Parallel()
	h := startHook(t)
	version := "apiextensions.k8s.io/v1beta1"
	h.accepted.Store(&version)
	s := testserver.Start(t, nil)
	establish(t, s, widgetsName, strings.Replace(convertedDefinition(h), `"conversionReviewVersions":["v1"]`, `"conversionReviewVersions":["v1beta1"]`, 1))
	check(t, s.Do("POST", widgets, widget("a", `{"size":1}`)), want{code: 201})
	check(t, s.Do("GET", widgetsV2+"/a", ""), want{code: 200, body: []string{`"width":1`}})
	check(t, s.Do("PUT", widgetsV2+"/a", s.Do("GET", widgetsV2+"/a", "").Body), want{code: 200})
}
