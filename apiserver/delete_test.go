package apiserver_test

import (
	"strconv"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"quorate/apiserver/internal/testserver"
	"quorate/apiserver/objects/schema"
)

const pod = `{"metadata":{"name":"p"},"spec":{"nodeName":"n1","containers":[{"name":"c","image":"i"}]}}`

func TestNamespaceDeletion(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	t.Run("G37 G38 emptied, then gone", func(t *testing.T) {
		t.Parallel()
		cms := namespace(t, s, "g38")
		for _, name := range []string{"x", "y", "z"} {
			check(t, s.Do("POST", cms, configMap(name)), want{code: 200})
		}
		check(t, s.Do("POST", "/api/v1/namespaces/g38/pods", pod), want{code: 200})
		w := open(t, s, "/api/v1/watch/namespaces/g38?resourceVersion=0")
		w.want("ADDED g38")
		check(t, s.Do("DELETE", "/api/v1/namespaces/g38/pods/p?gracePeriodSeconds=600", ""), want{code: 200})
		check(t, s.Do("DELETE", "/api/v1/namespaces/g38", ""), want{code: 200})
		if o := w.want("MODIFIED g38"); field(t, o, "status.phase") != "Terminating" || field(t, o, "metadata.deletionTimestamp") == "" {
			t.Errorf("G37: %s", o)
		}
		check(t, s.Do("POST", cms, configMap("late")), want{403, "Forbidden", "because it is being terminated", nil})
		check(t, s.Do("DELETE", "/api/v1/namespaces/g38", ""), want{code: 200})
		check(t, s.Do("DELETE", "/api/v1/namespaces/g38/pods/p?gracePeriodSeconds=1", ""), want{code: 200})
		w.want("DELETED g38")
		check(t, s.Do("GET", cms, ""), want{code: 200, body: []string{`"items":[]`}})
	})
	t.Run("G38 waits for finalizers of its content, and its own", func(t *testing.T) {
		t.Parallel()
		check(t, s.Do("POST", "/api/v1/namespaces", `{"metadata":{"name":"held","finalizers":["x.io/a"]}}`), want{code: 200})
		w := open(t, s, "/api/v1/watch/namespaces/held?resourceVersion=0")
		w.want("ADDED held")
		cms := "/api/v1/namespaces/held/configmaps"
		check(t, s.Do("POST", cms, `{"metadata":{"name":"m","finalizers":["x.io/b"]}}`), want{code: 200})
		check(t, s.Do("DELETE", "/api/v1/namespaces/held", ""), want{code: 200})
		w.want("MODIFIED held")
		s.Eventually("the content is marked", func() bool {
			return field(t, s.Do("GET", cms+"/m", "").Body, "metadata.deletionTimestamp") != ""
		})
		check(t, s.Do("PUT", cms+"/m", `{"metadata":{"name":"m"}}`), want{code: 200})
		if o := w.want("MODIFIED held"); field(t, o, "spec.finalizers") != "" {
			t.Errorf("the server's finalizer stays: %s", o)
		}
		check(t, s.Do("PUT", "/api/v1/namespaces/held", `{"metadata":{"name":"held"}}`), want{code: 200})
		w.want("DELETED held")
	})
}

// TestUnknownDeleteOptions: a field that DeleteOptions lack, such as a misspelt precondition, is
// treated as one that a kind lacks.
func TestUnknownDeleteOptions(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	collection := namespace(t, s, "unknown-options")
	const inJSON = `{"kind":"DeleteOptions","apiVersion":"v1","precondition":{"uid":"x"}}`
	envelope := string(schema.AppendEnvelope(nil, "v1", "DeleteOptions", protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 1)))
	for i, tc := range []struct {
		name, body, contentType, problem string
	}{
		{"JSON", inJSON, "application/json", `unknown field "precondition"`},
		{"protobuf", envelope, "application/vnd.kubernetes.protobuf", `unknown field "<number 99>"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, path := range []string{collection + "/a", collection} {
				check(t, s.Do("POST", collection, configMap("a")), want{code: 200})
				send := func(query string) testserver.Answer {
					return s.Do("DELETE", path+query, tc.body, "Content-Type: "+tc.contentType)
				}
				check(t, send("?fieldValidation=Strict"), want{400, "BadRequest", "couldn't read DeleteOptions: strict decoding error: " + tc.problem, nil})
				check(t, send("?fieldValidation=other"), want{422, "Invalid", `Unsupported value: "other"`, nil})
				check(t, s.Do("GET", collection+"/a", ""), want{code: 200})
				answer := send([]string{"", "?fieldValidation=Warn"}[i])
				check(t, answer, want{code: 200})
				if warnings := answer.Header["Warning"]; len(warnings) != 1 || warnings[0] != "299 - "+strconv.Quote(tc.problem) {
					t.Errorf("the warnings are %q", warnings)
				}
				check(t, s.Do("GET", collection+"/a", ""), want{code: 404})
				check(t, s.Do("POST", collection, configMap("a")), want{code: 200})
				if answer = send("?fieldValidation=Ignore"); answer.Code != 200 || len(answer.Header["Warning"]) > 0 {
					t.Errorf("Ignore: %d %v", answer.Code, answer.Header)
				}
			}
		})
	}
}

// TestLifecycleResumes: what a leader began, the next one ends. Here the next one is the same node
// with another server.
func TestLifecycleResumes(t *testing.T) {
	t.Parallel()
	store, stop := testserver.OpenStore(t, t.TempDir(), true)
	t.Cleanup(stop)
	first := testserver.StartOn(t, store, nil)
	namespace(t, first, "a")
	namespace(t, first, "b")
	for _, path := range []string{"/api/v1/namespaces/a/pods", "/api/v1/namespaces/b/pods"} {
		check(t, first.Do("POST", path, pod), want{code: 200})
		check(t, first.Do("DELETE", path+"/p?gracePeriodSeconds=2", ""), want{code: 200})
	}
	check(t, first.Do("DELETE", "/api/v1/namespaces/b", ""), want{code: 200})
	first.Stop()

	second := testserver.StartOn(t, store, nil)
	for _, path := range []string{"/api/v1/namespaces/a/pods/p", "/api/v1/namespaces/b"} {
		second.Eventually(path+" is gone", func() bool { return second.Do("GET", path, "").Code == 404 })
	}
}
