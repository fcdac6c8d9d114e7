package apiserver_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"quorate/apiserver/internal/testserver"
	"quorate/raftstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// unhurried nodes elect as slowly as in production: no election comes between a test's writes on a
// machine that has much else to do.
func unhurried(cfg *raftstore.Config) { cfg.RaftMultiplier = 1 }

// want is what an answer must be; empty members are not looked at.
type want struct {
	code    int
	reason  string
	message string   // contained
	body    []string // all contained
}

func check(t *testing.T, got testserver.Answer, w want) {
	t.Helper()
	if got.Code != w.code && !(w.code == 200 && got.OK()) {
		t.Fatalf("code %d, want %d: %s", got.Code, w.code, got.Body)
	}
	if w.reason != "" || w.message != "" {
		var st struct {
			Kind, Status, Reason, Message string
			Code                          int
		}
		if err := json.Unmarshal([]byte(got.Body), &st); err != nil {
			t.Fatalf("not a Status: %v: %s", err, got.Body)
		}
		if st.Kind != "Status" || st.Status != "Failure" || st.Code != w.code {
			t.Errorf("not the Status of a failure: %s", got.Body)
		}
		if st.Reason != w.reason {
			t.Errorf("reason %q, want %q", st.Reason, w.reason)
		}
		if !strings.Contains(st.Message, w.message) {
			t.Errorf("message %q, want %q", st.Message, w.message)
		}
	}
	for _, part := range w.body {
		if !strings.Contains(got.Body, part) {
			t.Errorf("body lacks %q: %s", part, got.Body)
		}
	}
}

// field takes a dotted path out of a JSON body, as text.
func field(t *testing.T, body, path string) string {
	t.Helper()
	var v any
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	for name := range strings.SplitSeq(path, ".") {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// namespace makes a namespace and returns the path of its configmaps.
func namespace(t *testing.T, s *testserver.Server, name string) string {
	t.Helper()
	check(t, s.Do("POST", "/api/v1/namespaces", `{"metadata":{"name":"`+name+`"}}`), want{code: 200})
	return "/api/v1/namespaces/" + name + "/configmaps"
}

func configMap(name string) string {
	return `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"` + name + `"},"data":{"k":"v"}}`
}

// itemNames returns the names of a list's items.
func itemNames(t *testing.T, body string) []string {
	t.Helper()
	names, err := namesInList(body)
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return names
}

// namesInList is itemNames for goroutines of their own.
func namesInList(body string) ([]string, error) {
	var list struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	err := json.Unmarshal([]byte(body), &list)
	names := make([]string, len(list.Items))
	for i := range list.Items {
		names[i] = list.Items[i].Metadata.Name
	}
	return names, err
}
