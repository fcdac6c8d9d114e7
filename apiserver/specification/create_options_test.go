package specification

import (
	"bufio"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
	"quorate/apiserver/objects/schema"
)

// createOptionRows: parameters of writes, validation, and which error wins.
var createOptionRows = []row{
	{"A45", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		a := s.Do("POST", collection("StatefulSet", ns), minimal("StatefulSet", ns, "a45",
			`{"metadata":{"labels":{"-":""}},"spec":{"replicas":-1,"podManagementPolicy":"Odd"}}`))
		st := refusal(t, a, 422, "Invalid")
		if !strings.HasPrefix(st.Message, `StatefulSet.apps "a45" is invalid: [metadata.labels: `) || !strings.HasSuffix(st.Message, "]") {
			t.Errorf("message %s", st.Message)
		}
		if d := st.Details; d.Group != "apps" || d.Kind != "StatefulSet" || d.Name != "a45" || len(d.Causes) != 3 || d.Causes[0].Field != "metadata.labels" {
			t.Errorf("details %+v", st.Details)
		}
		a = s.Do("POST", collection("ConfigMap", ns), minimal("ConfigMap", ns, "a45", `{"data":{"..":""}}`))
		if m := refusal(t, a, 422, "Invalid").Message; !strings.HasPrefix(m, `ConfigMap "a45" is invalid: data[..]: Invalid value: ".."`) {
			t.Errorf("message %s", m)
		}
	}},
	{"A46 A47 A48 Z19", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for name, query := range map[string]string{"unset": "", "ignore": "?fieldValidation=Ignore", "warn": "?fieldValidation=Warn"} {
			body := strings.Replace(minimal("Pod", ns, name), `"spec":{`, `"spec":{"foo":1,"hostname":"a","hostname":"b",`, 1)
			a := s.Do("POST", collection("Pod", ns)+query, body)
			want(t, ok(t, a), "spec.foo", "", "spec.hostname", "b")
			if got := ok(t, s.Do("GET", item("Pod", ns, name), "")); got != a.Body {
				t.Errorf("stored as %s", got)
			}
			warnings := strings.Join(a.Header.Values("Warning"), "\n")
			wanted := `299 - "unknown field \"spec.foo\""` + "\n" + `299 - "duplicate field \"spec.hostname\""`
			if name == "ignore" {
				wanted = ""
			}
			if warnings != wanted {
				t.Errorf("%s: Warning: %s", name, warnings)
			}
		}
	}},
	{"A49", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		body := strings.Replace(minimal("ConfigMap", ns, "a49", `{"spec":{"foo":1}}`), `"data":{`, `"data":{"k":"1",`, 1)
		a := s.Do("POST", collection("ConfigMap", ns)+"?fieldValidation=Strict", body)
		st := refusal(t, a, 400, "BadRequest")
		if !strings.HasPrefix(st.Message, `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: `) ||
			!strings.Contains(st.Message, `unknown field "spec"`) || !strings.Contains(st.Message, `duplicate field "data.k"`) {
			t.Errorf("message %s", st.Message)
		}
		expect(t, s.Do("POST", collection("Pod", ns)+"?fieldValidation=Strict", minimal("Pod", ns, "p", `{"spec":{"foo":1}}`)),
			400, "BadRequest", `Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.foo"`)

		protobuf := toProtobuf(t, "ConfigMap", minimal("ConfigMap", ns, "a49")) // and one more field, number 99
		_, _, raw, err := schema.CutEnvelope([]byte(protobuf))
		if err != nil {
			t.Fatal(err)
		}
		protobuf = string(schema.AppendEnvelope(nil, "v1", "ConfigMap", append(raw, "\x9a\x06\x01x"...)))
		expect(t, s.Do("POST", collection("ConfigMap", ns)+"?fieldValidation=Strict", protobuf, "Content-Type: "+asKubernetes),
			400, "BadRequest", `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "<number 99>"`)
		a = s.Do("POST", collection("ConfigMap", ns), protobuf, "Content-Type: "+asKubernetes)
		if ok(t, a); a.Header.Get("Warning") != `299 - "unknown field \"<number 99>\""` {
			t.Errorf("Warning: %s", a.Header.Get("Warning"))
		}
	}},
	{"A50", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		a := s.Do("POST", collection("Pod", ns)+"?fieldValidation=other", minimal("Pod", ns, "p"))
		expectInvalid(t, a, "fieldValidation", "FieldValueNotSupported")
		if d := refusal(t, a, 422, "Invalid").Details; d.Kind != "CreateOptions" || d.Group != "meta.k8s.io" {
			t.Errorf("details %+v", d)
		}
	}},
	{"A51", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		a := s.Do("POST", collection("ConfigMap", ns), minimal("ConfigMap", ns, "a51", `{"Data":{"x":"y"}}`))
		want(t, ok(t, a), "data", `{"k":"v"}`, "Data", "")
		if w := a.Header.Get("Warning"); w != `299 - "unknown field \"Data\""` {
			t.Errorf("Warning: %s", w)
		}
	}},
	{"A52", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		list := ok(t, s.Do("GET", collection("Pod", ns), ""))
		w := watch(t, s, collection("Pod", ns)+"?watch=true&resourceVersion="+get(t, list, "metadata.resourceVersion"))
		for _, query := range []string{"?dryRun=All", "?dryRun=All&dryRun=All"} {
			made := ok(t, s.Do("POST", collection("Pod", ns)+query, minimal("Pod", ns, "dry")))
			want(t, made, "metadata.resourceVersion", "", "spec.restartPolicy", "Always")
			if get(t, made, "metadata.uid") == "" {
				t.Errorf("no uid: %s", made)
			}
			soon(t, get(t, made, "metadata.creationTimestamp"))
		}
		expect(t, s.Do("GET", item("Pod", ns, "dry"), ""), 404, "NotFound")
		expect(t, s.Do("POST", collection("Pod", ns)+"?dryRun=All", minimal("Pod", ns, "dry", `{"spec":{"restartPolicy":"Odd"}}`)), 422, "Invalid")
		expect(t, s.Do("POST", collection("Pod", "nope")+"?dryRun=All", minimal("Pod", "nope", "dry")), 404, "NotFound")
		jane := "Authorization: Bearer " + s.IssueToken("jane")
		expect(t, s.Do("POST", collection("Pod", ns)+"?dryRun=All", minimal("Pod", ns, "dry"), jane), 403, "Forbidden")
		create(t, s, "Pod", ns, "real")
		expect(t, s.Do("POST", collection("Pod", ns)+"?dryRun=All", minimal("Pod", ns, "real")), 409, "AlreadyExists")
		w.want("ADDED real")
	}},
	{"A53", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, query := range []string{"?dryRun=Some", "?dryRun=All&dryRun=Some", "?dryRun=all"} {
			expectInvalid(t, s.Do("POST", collection("Pod", ns)+query, minimal("Pod", ns, "p")), "dryRun", "FieldValueNotSupported")
		}
	}},
	{"A54", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		managed := func(name, manager string) testserver.Answer {
			return s.Do("POST", collection("ConfigMap", ns)+"?fieldManager="+manager, minimal("ConfigMap", ns, name))
		}
		ok(t, managed("short", "kubectl-create"))
		ok(t, managed("full", strings.Repeat("m", 128)))
		expect(t, managed("long", strings.Repeat("m", 129)), 422, "Invalid", "fieldManager")
		expect(t, managed("odd", "a%07b"), 422, "Invalid", "fieldManager")
	}},
	{"A56", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		ok(t, s.Do("POST", collection("ConfigMap", ns)+"?what=ever&x", minimal("ConfigMap", ns, "a56")))
		for _, path := range []string{item("ConfigMap", ns, "a56"), collection("ConfigMap", ns)} {
			ok(t, s.Do("GET", path+"?what=ever&x", ""))
		}
		ok(t, s.Do("DELETE", item("ConfigMap", ns, "a56")+"?what=ever&x", ""))
	}},
	{"A57", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		create(t, s, "ConfigMap", ns, "a57")
		for value, stream := range map[string]bool{"=true": true, "=1": true, "": true, "=": true, "=t": true, "=false": false, "=0": false} {
			w := watch(t, s, collection("ConfigMap", ns)+"?timeoutSeconds=20&watch"+value)
			first, err := bufio.NewReader(w.resp.Body).ReadString('\n')
			w.close()
			if streams := strings.Contains(first, `"type":"ADDED"`); streams != stream {
				t.Errorf("watch%s: a stream: %v, %v: %s", value, streams, err, first)
			}
		}
		for _, parameter := range []string{"watch", "pretty", "includeUninitialized"} {
			expect(t, s.Do("GET", collection("ConfigMap", ns)+"?"+parameter+"=maybe", ""), 400, "BadRequest", parameter)
		}
		expect(t, s.Do("GET", item("ConfigMap", ns, "a57")+"?export=maybe", ""), 400, "BadRequest", "export")
	}},
	{"A58", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for kind, status := range map[string]string{
			"Pod": `{"phase":"Running","podIP":"10.0.0.1"}`, "PersistentVolume": `{"phase":"Bound"}`,
			"HorizontalPodAutoscaler": `{"currentReplicas":7}`, "DaemonSet": `{"numberReady":7}`, "StatefulSet": `{"replicas":7}`,
			"CronJob": `{"lastScheduleTime":"2001-01-01T00:00:00Z"}`, "Namespace": `{"phase":"Terminating"}`,
		} {
			plain := get(t, create(t, s, kind, ns, "a58"), "status")
			if got := get(t, create(t, s, kind, ns, "a58s", `{"status":`+status+`}`), "status"); got != plain {
				t.Errorf("%s: status %s, want %s", kind, got, plain)
			}
		}
		node := create(t, s, "Node", "", "a58", `{"status":{"capacity":{"cpu":"2"},"nodeInfo":{"kernelVersion":"6.1"}}}`)
		want(t, node, "status.capacity.cpu", "2", "status.nodeInfo.kernelVersion", "6.1")
	}},
	{"A61", errorOrder},
}

// errorOrder has two faults in each request; the one that counts first must be told.
func errorOrder(t *testing.T, s *testserver.Server) {
	ns := namespace(t, s)
	create(t, s, "ConfigMap", ns, "taken")
	const (
		badAccept  = "Accept: text/html"
		badOptions = "?dryRun=odd"
	)
	jane := "Authorization: Bearer " + s.IssueToken("jane")
	cms, nowhere := collection("ConfigMap", ns), collection("ConfigMap", "nope")
	invalid := minimal("ConfigMap", "", "No")
	big := strings.Repeat("x", 3<<20+1)
	for _, tc := range []struct {
		before, method, path, body string
		headers                    []string
		code                       int
		reason, text               string
	}{
		{"authentication, no route", "GET", "/apis/no/such", "", []string{"Authorization: "}, 401, "Unauthorized", ""},
		{"authentication, method", "POST", cms + "/x", "", []string{"Authorization: "}, 401, "Unauthorized", ""},
		{"routing, authorization", "GET", "/apis/no/such", "", []string{jane}, 404, "NotFound", ""},
		{"method, authorization", "POST", cms + "/x", "", []string{jane}, 405, "MethodNotAllowed", ""},
		{"authorization, Accept", "POST", cms, "{}", []string{jane, badAccept}, 403, "Forbidden", ""},
		{"Accept, Content-Type", "PATCH", cms + "/taken", "{}", []string{badAccept, "Content-Type: text/plain"}, 406, "NotAcceptable", ""},
		{"Content-Type, size", "PATCH", cms + "/taken", big, []string{"Content-Type: text/plain"}, 415, "UnsupportedMediaType", ""},
		{"size, options", "POST", cms + badOptions, big, nil, 413, "RequestEntityTooLarge", ""},
		{"options, decoding", "POST", cms + badOptions, "{", nil, 422, "Invalid", "dryRun"},
		{"decoding, namespaces that differ", "POST", cms, `{"metadata":{"namespace":"other"},"data":7}`, nil, 400, "BadRequest", "data"},
		{"namespaces that differ, no namespace", "POST", nowhere, minimal("ConfigMap", ns, "x"), nil, 400, "BadRequest", "does not match"},
		{"no namespace, validation", "POST", nowhere, invalid, nil, 404, "NotFound", "namespaces"},
		{"namespace going, validation", "POST", collection("ConfigMap", going(t, s)), invalid, nil, 403, "Forbidden", "terminated"},
		{"validation, existence", "POST", cms, minimal("ConfigMap", ns, "taken", `{"data":{"..":""}}`), nil, 422, "Invalid", ""},
	} {
		t.Run(tc.before, func(t *testing.T) {
			expect(t, s.Do(tc.method, tc.path, tc.body, tc.headers...), tc.code, tc.reason, tc.text)
		})
	}
}
