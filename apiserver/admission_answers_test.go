package apiserver_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// TestAdmissionWarnings: what webhooks warn about is in the response, whether the write is refused
// or not, cut to its bounds.
func TestAdmissionWarnings(t *testing.T) {
	t.Parallel()
	warns := func(allowed bool, texts ...string) func(*reviewed) map[string]any {
		return func(*reviewed) map[string]any { return map[string]any{"allowed": allowed, "warnings": texts} }
	}
	s := testserver.Start(t, nil)
	configure(t, s, mutatingConfigurations, "m", startAdmitter(t, warns(true, "one", "two words")).webhook("m.example.com", nil))
	configure(t, s, validatingConfigurations, "v", startAdmitter(t, warns(true, strings.Repeat("x", 1000))).webhook("v.example.com", nil))
	got := s.Do("POST", configMaps, configMapOf("a", ""))
	check(t, got, want{code: 200})
	if have, want := got.Header.Values("Warning"), []string{`299 - "one"`, `299 - "two words"`, `299 - "` + strings.Repeat("x", 256) + `"`}; !slices.Equal(have, want) {
		t.Errorf("warnings %q, not %q", have, want)
	}
	configure(t, s, validatingConfigurations, "w", startAdmitter(t, warns(false, slices.Repeat([]string{strings.Repeat("y", 256)}, 100)...)).webhook("w.example.com", nil))
	got = s.Do("POST", configMaps, configMapOf("b", ""))
	check(t, got, want{code: 400})
	bytes := 0
	for _, text := range got.Header.Values("Warning") {
		bytes += len(text)
	}
	if n := len(got.Header.Values("Warning")); n < 4 || bytes > 5<<10 {
		t.Errorf("%d warnings of %d bytes", n, bytes)
	}
}

// TestAdmissionAuditAnnotations: the audit event of a write has the annotations of the webhooks under
// their names, and the server's own about what each has done.
func TestAdmissionAuditAnnotations(t *testing.T) {
	t.Parallel()
	patch := patched(`[{"op":"add","path":"/data","value":{"k":"v"}}]`)
	patch["auditAnnotations"] = map[string]string{"team": "a", "not/a/key": "b"}
	s, out := audited(t, "rules:\n- {level: Request, resources: [{group: '', resources: [configmaps]}]}\n- {level: None}\n")
	configure(t, s, mutatingConfigurations, "m",
		startAdmitter(t, func(*reviewed) map[string]any { return patch }).webhook("m.example.com", nil),
		startAdmitter(t, func(*reviewed) map[string]any { return map[string]any{"uid": "x"} }).webhook("n.example.com", map[string]any{"failurePolicy": "Ignore"}))
	configure(t, s, validatingConfigurations, "v", startAdmitter(t, func(*reviewed) map[string]any {
		return map[string]any{"allowed": true, "auditAnnotations": map[string]string{"checked": "yes"}}
	}).webhook("v.example.com", nil))
	check(t, s.Do("POST", configMaps, configMapOf("a", "")), want{code: 200})
	var found event
	s.Eventually("the audit event of the write", func() bool {
		for _, e := range out.find(t, configMaps) {
			if e.Stage == "ResponseComplete" {
				found = e
			}
		}
		return found.Stage != ""
	})
	const mutation, patches = "mutation.webhook.admission.k8s.io/", "patch.webhook.admission.k8s.io/"
	for key, want := range map[string]string{
		"m.example.com/team":                                              "a",
		"v.example.com/checked":                                           "yes",
		mutation + "round_0_index_0":                                      `{"configuration":"m","webhook":"m.example.com","mutated":true}`,
		mutation + "round_0_index_1":                                      `{"configuration":"m","webhook":"n.example.com","mutated":false}`,
		"failed-open." + mutation + "round_0_index_1":                     "n.example.com",
		patches + "round_0_index_0":                                       `{"configuration":"m","webhook":"m.example.com","patch":[{"op":"add","path":"/data","value":{"k":"v"}}],"patchType":"JSONPatch"}`,
		"m.example.com/not/a/key":                                         "",
		"failed-open.validation.webhook.admission.k8s.io/round_0_index_0": "",
	} {
		if have := found.Annotations[key]; have != want {
			t.Errorf("annotation %s is %q, not %q", key, have, want)
		}
	}
}

// TestAdmissionReviewV1beta1: a webhook that knows v1beta1 first is asked in it. Its answer needs no
// uid and no patchType, and what a validating webhook patches has no effect.
func TestAdmissionReviewV1beta1(t *testing.T) {
	t.Parallel()
	patch := patched(`[{"op":"add","path":"/data","value":{"k":"v"}}]`)
	delete(patch, "patchType")
	patch["uid"] = "another"
	a := startAdmitter(t, func(*reviewed) map[string]any { return patch })
	v := startAdmitter(t, func(r *reviewed) map[string]any {
		if r.Name == "refused" {
			return map[string]any{"uid": "", "allowed": false, "status": map[string]any{"message": "no", "code": 403}}
		}
		return patched(`[{"op":"remove","path":"/data"}]`)
	})
	s := testserver.Start(t, nil)
	configure(t, s, mutatingConfigurations, "m", a.webhook("m.example.com", map[string]any{"admissionReviewVersions": []string{"v1beta1", "v1"}}))
	configure(t, s, validatingConfigurations, "v", v.webhook("v.example.com", map[string]any{"admissionReviewVersions": []string{"v2", "v1beta1"}}))
	check(t, s.Do("POST", configMaps, configMapOf("a", "")), want{code: 200, body: []string{`"data":{"k":"v"}`}})
	check(t, s.Do("POST", configMaps, configMapOf("refused", "")), want{code: 403, body: []string{"denied the request: no"}})
	for _, asked := range append(a.take(), v.take()...) {
		if asked.apiVersion != "admission.k8s.io/v1beta1" || asked.UID == "" || asked.Kind["kind"] != "ConfigMap" {
			t.Errorf("%+v", asked)
		}
	}
}

// TestAdmissionOnEveryNode: a configuration is in force on the node through which it was written, or
// deleted, when that is acknowledged, and on the others as soon as they have applied it.
func TestAdmissionOnEveryNode(t *testing.T) {
	t.Parallel()
	nodes := testserver.StartReplicas(t, 3, nil)
	a := startAdmitter(t, func(*reviewed) map[string]any {
		return map[string]any{"allowed": false, "status": map[string]any{"message": "no"}}
	})
	write := func(s *testserver.Server) int {
		return s.Do("POST", configMaps+"?dryRun=All", configMapOf("a", "")).Code
	}
	for round := range 9 {
		s := nodes[round%len(nodes)]
		name := fmt.Sprintf("c%d", round)
		configure(t, s, validatingConfigurations, name, a.webhook("v.example.com", nil))
		if code := write(s); code != 400 {
			t.Fatalf("round %d: the node that acknowledged the configuration answers %d", round, code)
		}
		for i, other := range nodes {
			other.Eventually(fmt.Sprintf("node %d refuses", i), func() bool { return write(other) == 400 })
		}
		check(t, s.Do("DELETE", validatingConfigurations+"/"+name, ""), want{code: 200})
		if code := write(s); code != 200 {
			t.Fatalf("round %d: the node that acknowledged the delete answers %d", round, code)
		}
		for i, other := range nodes {
			other.Eventually(fmt.Sprintf("node %d admits", i), func() bool { return write(other) == 200 })
		}
	}
}

// TestAdmissionAnswersTakeBoundedMemory: answers whose decoded form takes many times their text are
// refused before they are decoded, counted, and leave nothing reserved.
func TestAdmissionAnswersTakeBoundedMemory(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	for name, tc := range map[string]struct {
		answer string
		code   int
	}{
		"warnings": {`"allowed":true,"warnings":[""` + strings.Repeat(`,""`, 1<<20) + `]`, 500},
		"causes":   {`"allowed":false,"status":{"details":{"causes":[{}` + strings.Repeat(`,{}`, 1<<20) + `]}}`, 500},
		"long":     {`"allowed":true,"warnings":["` + strings.Repeat("x", 7<<20) + `"]`, 200},
	} {
		a := startAdmitter(t, nil)
		a.text = tc.answer
		configure(t, s, validatingConfigurations, name, a.webhook("v.example.com", map[string]any{"timeoutSeconds": 30}))
		expected := want{code: tc.code}
		if tc.code == 500 {
			expected.body = []string{"the answers of webhooks take too much memory"}
		}
		check(t, s.Do("POST", configMaps+"?dryRun=All", configMapOf("a", "")), expected)
		check(t, s.Do("DELETE", validatingConfigurations+"/"+name, ""), want{code: 200})
	}
	metrics := s.Do("GET", "/metrics", "").Body
	for _, line := range []string{
		`quorate_apiserver_limit_hits_total{limit="webhook-memory"} 2`,
		`quorate_apiserver_webhook_answers_refused_total{bound="growth"} 2`,
		"quorate_apiserver_webhook_answers_bytes 0\n",
	} {
		if !strings.Contains(metrics, line) {
			t.Errorf("the metrics lack %q", line)
		}
	}
}
