package apiserver_test

import (
	"testing"

	"quorate/apiserver/internal/testserver"
)

const pod = `{"metadata":{"name":"p"},"spec":{"nodeName":"n1","containers":[{"name":"c","image":"i"}]}}`

func TestDelete(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	cms := namespace(t, s, "a")
	check(t, s.Do("POST", cms, configMap("stays")), want{code: 200})
	check(t, s.Do("POST", "/apis/network.platform.io/v1/clusternetworks", `{"metadata":{"name":"default"},"network":"10.0.0.0/8","hostsubnetlength":8,"serviceNetwork":"172.30.0.0/16","pluginName":"p"}`), want{code: 200})
	for _, tc := range []struct {
		row, path, body string
		headers         []string
		want            want
	}{
		{"G3 missing", cms + "/x", "", nil, want{404, "NotFound", `configmaps "x" not found`, nil}},
		{"G6 malformed", cms + "/stays", "{", nil, want{400, "BadRequest", "", nil}},
		{"G6 another kind", cms + "/stays", `{"kind":"Pod","apiVersion":"v1"}`, nil, want{400, "BadRequest", "DeleteOptions", nil}},
		{"G8 negative grace", cms + "/stays?gracePeriodSeconds=-1", "", nil, want{422, "Invalid", "gracePeriodSeconds", []string{`"group":"meta.k8s.io","kind":"DeleteOptions"`}}},
		{"G8 not an integer", cms + "/stays?gracePeriodSeconds=x", "", nil, want{400, "BadRequest", "gracePeriodSeconds", nil}},
		{"G17 uid", cms + "/stays", `{"preconditions":{"uid":"x"}}`, nil, want{409, "Conflict", "the UID in the precondition (x) does not match the UID in record", nil}},
		{"G18 version", cms + "/stays", `{"preconditions":{"resourceVersion":"1"}}`, nil, want{409, "Conflict", "the ResourceVersion in the precondition (1)", nil}},
		{"G26 both", cms + "/stays", `{"propagationPolicy":"Background","orphanDependents":false}`, nil, want{422, "Invalid", "orphanDependents and deletionPropagation cannot be both set", nil}},
		{"G27 other policy", cms + "/stays?propagationPolicy=x", "", nil, want{422, "Invalid", "", []string{"FieldValueNotSupported"}}},
		{"G29 dry run", cms + "/stays?dryRun=All", "", nil, want{code: 200, body: []string{`"status":"Success"`}}},
		{"G41 default stays", "/api/v1/namespaces/default", "", nil, want{403, "Forbidden", "this namespace may not be deleted", nil}},
		{"G42 the namespace of the system stays", "/api/v1/namespaces/platform-system", "", nil, want{403, "Forbidden", "", nil}},
		{"G7 any type without a body", cms + "/nothing", "", []string{"Content-Type: application/vnd.kubernetes.protobuf"}, want{404, "NotFound", "", nil}},
		{"G24 policy ignored", "/apis/network.platform.io/v1/clusternetworks/default", `{"propagationPolicy":"Orphan"}`, nil, want{code: 200}},
	} {
		t.Run(tc.row, func(t *testing.T) {
			t.Parallel()
			check(t, s.Do("DELETE", tc.path, tc.body, tc.headers...), tc.want)
		})
	}
	t.Run("G1 G4 removed at once", func(t *testing.T) {
		t.Parallel()
		made := s.Do("POST", cms, configMap("gone")).Body
		uid := field(t, made, "metadata.uid")
		got := s.Do("DELETE", cms+"/gone", `{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1","propagationPolicy":"Background","preconditions":{"uid":"`+uid+`"}}`, "Content-Type: application/json")
		if wanted := `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"gone","kind":"configmaps","uid":"` + uid + `"}}`; got.Body != wanted {
			t.Errorf("got %s, want %s", got.Body, wanted)
		}
		check(t, s.Do("GET", cms+"/gone", ""), want{404, "NotFound", "", nil})
	})
}

func TestGracefulDeletion(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	pods := func(t *testing.T, ns string) (string, *stream) {
		namespace(t, s, ns)
		path := "/api/v1/namespaces/" + ns + "/pods"
		check(t, s.Do("POST", path, pod), want{code: 200})
		w := open(t, s, path+"?watch=1&resourceVersion=0")
		w.want("ADDED p")
		return path, w
	}
	t.Run("G12 G13 removed when the time is over", func(t *testing.T) {
		t.Parallel()
		path, w := pods(t, "g13")
		check(t, s.Do("DELETE", path+"/p?gracePeriodSeconds=1", ""), want{code: 200})
		if o := w.want("MODIFIED p"); field(t, o, "metadata.deletionGracePeriodSeconds") != "1" {
			t.Errorf("G12: %s", o)
		}
		w.want("DELETED p")
	})
	t.Run("G9 G14 G15 shorter, never longer", func(t *testing.T) {
		t.Parallel()
		path, w := pods(t, "g14")
		check(t, s.Do("DELETE", path+"/p", ""), want{code: 200})
		if o := w.want("MODIFIED p"); field(t, o, "metadata.deletionGracePeriodSeconds") != "30" {
			t.Errorf("G10: %s", o)
		}
		check(t, s.Do("GET", path+"/p", ""), want{code: 200})
		check(t, s.Do("DELETE", path+"/p?gracePeriodSeconds=60", ""), want{code: 200})
		check(t, s.Do("DELETE", path+"/p", ""), want{code: 200})
		check(t, s.Do("DELETE", path+"/p?gracePeriodSeconds=20", ""), want{code: 200})
		if o := w.want("MODIFIED p"); field(t, o, "metadata.deletionGracePeriodSeconds") != "20" {
			t.Errorf("G14: %s", o)
		}
		check(t, s.Do("DELETE", path+"/p?gracePeriodSeconds=0", ""), want{code: 200})
		w.want("DELETED p")
	})
	t.Run("G11 not scheduled", func(t *testing.T) {
		t.Parallel()
		namespace(t, s, "g11")
		check(t, s.Do("POST", "/api/v1/namespaces/g11/pods", `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`), want{code: 200})
		check(t, s.Do("DELETE", "/api/v1/namespaces/g11/pods/p", ""), want{code: 200})
		check(t, s.Do("GET", "/api/v1/namespaces/g11/pods/p", ""), want{404, "NotFound", "", nil})
	})
}

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

// TestLifecycleResumes: what a leader began, the next one ends. Here the next one is the same node with another server.
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
