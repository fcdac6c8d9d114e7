package apiserver_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// clusterRole is one with a label, and with rules about plurals, or one that aggregates others.
func clusterRole(name, label string, plurals ...string) string {
	var rules []string
	for _, plural := range plurals {
		rules = append(rules, `{"verbs":["get"],"apiGroups":[""],"resources":["`+plural+`"]}`)
	}
	return `{"metadata":{"name":"` + name + `","labels":{"to":"` + label + `"}},"rules":[` + strings.Join(rules, ",") + `]}`
}

func aggregating(name, label string, labels ...string) string {
	var selectors []string
	for _, l := range labels {
		selectors = append(selectors, `{"matchLabels":{"to":"`+l+`"}}`)
	}
	return `{"metadata":{"name":"` + name + `","labels":{"to":"` + label + `"}},"aggregationRule":{"clusterRoleSelectors":[` + strings.Join(selectors, ",") + `]}}`
}

// TestAggregation checks that a ClusterRole with an aggregationRule gets the rules of those that it
// selects, and that they count.
func TestAggregation(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	roles := "/apis/" + aliasGroup + "/v1beta1/clusterroles"
	has := func(name string, plurals ...string) {
		t.Helper()
		s.Eventually(fmt.Sprint(name, " is about ", plurals), func() bool {
			body := s.Do("GET", roles+"/"+name, "").Body
			var got []string
			for _, part := range strings.Split(body, `"resources":["`)[1:] {
				got = append(got, part[:strings.Index(part, `"`)])
			}
			return slices.Equal(got, plurals)
		})
	}
	check(t, s.Do("POST", roles, clusterRole("b", "x", "pods", "secrets")), want{code: 201})
	check(t, s.Do("POST", roles, aggregating("all", "", "x", "y")), want{code: 201, body: []string{`"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"to":"x"}},{"matchLabels":{"to":"y"}}]}`}})
	has("all", "pods", "secrets")
	check(t, s.Do("POST", roles, clusterRole("c", "y", "nodes")), want{code: 201})
	has("all", "pods", "secrets", "nodes")
	check(t, s.Do("POST", roles, clusterRole("a", "x", "configmaps", "pods")), want{code: 201}) // by name, each rule once
	s.Eventually("configmaps are added", func() bool { return strings.Contains(s.Do("GET", roles+"/all", "").Body, "configmaps") })

	// They count for those to whom the role is bound.
	check(t, s.Do("POST", "/apis/"+aliasGroup+"/v1/clusterrolebindings", bindingTo("jane", "ClusterRole/all", "jane")), want{code: 201})
	header := "Authorization: Bearer " + s.IssueToken("jane")
	check(t, s.Do("GET", "/api/v1/nodes/none", "", header), want{code: 404, reason: "NotFound"})
	check(t, s.Do("DELETE", roles+"/c", ""), want{code: 200})
	s.Eventually("the rules of a role that is gone go", func() bool { return s.Do("GET", "/api/v1/nodes/none", "", header).Code == 403 })
	check(t, s.Do("PATCH", roles+"/b", `{"metadata":{"labels":{"to":"z"}}}`, mergePatch), want{code: 200})
	has("all", "configmaps", "pods")
	check(t, s.Do("PATCH", roles+"/all", `{"rules":[]}`, mergePatch), want{code: 200}) // what a client writes does not last
	has("all", "configmaps", "pods")

	// Roles that aggregate each other, and one that aggregates them.
	check(t, s.Do("POST", roles, aggregating("left", "left", "right", "z")), want{code: 201})
	check(t, s.Do("POST", roles, aggregating("right", "right", "left", "y")), want{code: 201})
	check(t, s.Do("POST", roles, aggregating("both", "", "left", "right")), want{code: 201})
	check(t, s.Do("POST", roles, clusterRole("d", "y", "events")), want{code: 201})
	s.Eventually("rules come along", func() bool {
		body := s.Do("GET", roles+"/both", "").Body
		return strings.Contains(body, "events") && strings.Contains(body, "secrets") && strings.Count(body, `"resources"`) == 3
	})
	check(t, s.Do("POST", roles, aggregating("none", "")), want{422, "Invalid", "aggregationRule.clusterRoleSelectors: Required value", nil})

	// Without the rule, a role keeps what it has.
	check(t, s.Do("PATCH", roles+"/all", `{"aggregationRule":null}`, mergePatch), want{code: 200})
	check(t, s.Do("DELETE", roles+"/a", ""), want{code: 200})
	has("all", "configmaps", "pods", "events")
}

// TestAggregationEscalation tries to gain permissions by what roles aggregate, as a user who may
// write cluster roles but holds nothing else.
func TestAggregationEscalation(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	roles := "/apis/" + aliasGroup + "/v1/clusterroles"
	header := "Authorization: Bearer " + s.IssueToken("jane")
	do := func(method, path, body string) testserver.Answer {
		contentType := "Content-Type: application/json"
		if method == "PATCH" {
			contentType = mergePatch
		}
		return s.Do(method, path, body, contentType, header)
	}
	writer := `{"metadata":{"name":"writer"},"rules":[{"apiGroups":["` + aliasGroup + `"],"resources":["clusterroles"],"verbs":["*"]}]}`
	writer = strings.Replace(writer, `"*"`, `"create","update","patch","get"`, 1)
	check(t, s.Do("POST", roles, writer), want{code: 201})
	check(t, s.Do("POST", "/apis/"+aliasGroup+"/v1/clusterrolebindings", bindingTo("jane", "ClusterRole/writer", "jane")), want{code: 201})
	check(t, s.Do("POST", roles, clusterRole("strong", "", "secrets")), want{code: 201})

	// Labels grant nothing while no role aggregates others.
	check(t, do("PATCH", roles+"/strong", `{"metadata":{"labels":{"a":"b"}}}`), want{code: 200})
	check(t, s.Do("POST", roles, aggregating("all", "", "x")), want{code: 201})
	tries := map[string]func() testserver.Answer{
		"aggregate": func() testserver.Answer { return do("POST", roles, aggregating("mine", "", "x")) },
		"aggregate in a role": func() testserver.Answer {
			return do("PATCH", roles+"/writer", `{"aggregationRule":{"clusterRoleSelectors":[{}]}}`)
		},
		"aggregate more": func() testserver.Answer {
			return do("PATCH", roles+"/all", `{"aggregationRule":{"clusterRoleSelectors":[{}]}}`)
		},
		"cease to aggregate":      func() testserver.Answer { return do("PATCH", roles+"/all", `{"aggregationRule":null}`) },
		"label what has more":     func() testserver.Answer { return do("PATCH", roles+"/strong", `{"metadata":{"labels":{"to":"x"}}}`) },
		"create with a label":     func() testserver.Answer { return do("POST", roles, clusterRole("new", "x", "secrets")) },
		"by our group, aggregate": func() testserver.Answer { return do("POST", inGroup(ownGroup, roles), aggregating("mine", "", "x")) },
		"add rules to an aggregate": func() testserver.Answer {
			return do("PATCH", roles+"/all", `{"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]}`)
		},
	}
	for what, try := range tries {
		if a := try(); a.Code != 403 {
			t.Errorf("%s: %d %s", what, a.Code, a.Body)
		}
	}
	check(t, do("PATCH", roles+"/all", `{"metadata":{"annotations":{"a":"b"}}}`), want{code: 200})
	check(t, do("POST", roles, clusterRole("weak", "x")), want{code: 201})
	check(t, do("PATCH", roles+"/weak", `{"metadata":{"labels":{"to":"y"}}}`), want{code: 200})

	// With all permissions, everything goes.
	check(t, s.Do("POST", "/apis/"+aliasGroup+"/v1/clusterrolebindings", bindingTo("jane-all", "ClusterRole/cluster-admin", "jane")), want{code: 201})
	for _, what := range []string{"aggregate", "aggregate more", "label what has more", "cease to aggregate"} {
		if a := tries[what](); !a.OK() {
			t.Errorf("%s by who may do everything: %d %s", what, a.Code, a.Body)
		}
	}
}
