package apiserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// TestCustomResourceConversionSelects: each version's fields select objects, in whichever version
// they were written, and deletes keep them selected while the webhook does not work.
func TestCustomResourceConversionSelects(t *testing.T) {
	t.Parallel()
	h := startHook(t)
	s := testserver.Start(t, nil)
	selectable := func(definition, version, path string) string {
		name := `"name":"` + version + `",`
		return strings.Replace(definition, name, name+`"selectableFields":[{"jsonPath":"`+path+`"}],`, 1)
	}
	establish(t, s, widgetsName, selectable(selectable(convertedDefinition(h), "v1", ".spec.size"), "v2", ".spec.width"))
	selected := func(size int, names string) {
		t.Helper()
		for url, field := range map[string]string{widgets: "spec.size", widgetsV2: "spec.width"} {
			url := fmt.Sprintf("%s?fieldSelector=%s%%3D%d", url, field, size)
			got := s.Do("GET", url, "")
			var found []string
			for _, name := range []string{"a", "b", "c", "d"} {
				if strings.Contains(got.Body, `"name":"`+name+`"`) {
					found = append(found, name)
				}
			}
			if strings.Join(found, " ") != names {
				t.Errorf("%s: %q, want %q: %d %s", url, found, names, got.Code, got.Body)
			}
		}
	}
	watchFrom := func(version string) *customWatch {
		return &customWatch{open(t, s, widgetsV2+"?watch=true&fieldSelector=spec.width%3D3&resourceVersion="+version), "v2", `"width":3`, `"size"`}
	}
	watch := watchFrom("")
	check(t, s.Do("POST", widgets, widget("a", `{"size":1}`)), want{code: 201})
	check(t, s.Do("POST", widgetsV2, widgetV2("b", `{"width":1}`)), want{code: 201})
	check(t, s.Do("PATCH", widgets+"/c?fieldManager=m", widget("c", `{"size":2}`), "Content-Type: application/apply-patch+yaml"), want{code: 201})
	check(t, s.Do("PATCH", widgetsV2+"/d?fieldManager=m", widgetV2("d", `{"width":2}`), "Content-Type: application/apply-patch+yaml"), want{code: 201})
	selected(1, "a b")
	selected(2, "c d")
	check(t, patchAs(s, "merge", widgets+"/a", `{"spec":{"size":3},"metadata":{"finalizers":["example.com/hold"]}}`), want{code: 200})
	check(t, patchAs(s, "merge", widgetsV2+"/d", `{"spec":{"width":3}}`), want{code: 200})
	check(t, patchAs(s, "merge", widgets+"/a/status", `{"status":{"phase":"p"}}`), want{code: 200})
	selected(1, "b")
	selected(2, "c")
	selected(3, "a d")
	for _, event := range []string{"ADDED a", "ADDED d", "MODIFIED a"} {
		watch.expect(event)
	}

	// The deletion is an event that this watch cannot convert.
	broken := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "broken", http.StatusInternalServerError) })
	h.broken.Store(&broken)
	check(t, s.Do("DELETE", widgets+"/a", ""), want{code: 200})
	h.broken.Store(nil)
	selected(3, "a d")
	var list struct {
		Metadata struct{ ResourceVersion string }
	}
	if err := json.Unmarshal([]byte(s.Do("GET", widgetsV2, "").Body), &list); err != nil {
		t.Fatal(err)
	}
	watch = watchFrom(list.Metadata.ResourceVersion)
	check(t, patchAs(s, "merge", widgets+"/a", `{"metadata":{"finalizers":null}}`), want{code: 200})
	selected(3, "d")
	watch.expect("DELETED a")
}
