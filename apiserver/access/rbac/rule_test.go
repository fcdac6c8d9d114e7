package rbac

import (
	"strings"
	"testing"

	"quorate/apiserver/access/auth"
)

// asked parses a request "verb group resource[/subresource] name", with "core" for the group "" and
// "-" for no name, or "verb /path".
func asked(text string) *auth.Attributes {
	f := strings.Fields(text)
	if strings.HasPrefix(f[1], "/") {
		return &auth.Attributes{Verb: f[0], Path: f[1]}
	}
	a := &auth.Attributes{Verb: f[0], Group: strings.ReplaceAll(f[1], "core", ""), Name: strings.ReplaceAll(f[3], "-", "")}
	a.Resource, a.Subresource, _ = strings.Cut(f[2], "/")
	return a
}

func TestRule(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		rule      rule
		allows    []string
		allowsNot []string
	}{
		"verbs, groups and resources as listed J18": {
			ruleOf("get,list core pods"), []string{"get core pods p", "list core pods -"},
			[]string{"watch core pods -", "get apps pods p", "get core nodes n", "get core pods/status p", "GET core pods p"},
		},
		"every verb J18":                      {ruleOf("* core pods"), []string{"get core pods p", "odd core pods -"}, []string{"get core nodes n"}},
		"every group J18":                     {ruleOf("get * pods"), []string{"get core pods p", "get apps pods p"}, []string{"get apps nodes p"}},
		"every resource, and below J18":       {ruleOf("get core *"), []string{"get core pods p", "get core pods/status p"}, []string{"get apps pods p"}},
		"a subresource alone J18":             {ruleOf("get core pods/status"), []string{"get core pods/status p"}, []string{"get core pods p", "get core nodes/status n"}},
		"a subresource of all J18":            {ruleOf("get core */status"), []string{"get core pods/status p", "get core nodes/status n"}, []string{"get core pods p", "get core pods/log p"}},
		"no pattern for what is below J18":    {ruleOf("get core pods/*"), nil, []string{"get core pods p", "get core pods/status p"}},
		"nothing below is nothing J18":        {ruleOf("* core pods/,*/"), nil, []string{"get core pods p"}},
		"no pattern within names J18":         {ruleOf("get core pod*"), nil, []string{"get core pods p"}},
		"names J18":                           {ruleOf("get core pods a,b"), []string{"get core pods a", "get core pods b"}, []string{"get core pods c"}},
		"names never allow what has none J20": {ruleOf("* core pods a"), []string{"list core pods a", "watch core pods a"}, []string{"list core pods -", "create core pods -", "deletecollection core pods -"}},
		"paths J19":                           {pathRule("get /metrics,/a/*"), []string{"get /metrics", "get /a/", "get /a/b/c"}, []string{"post /metrics", "get /metrics/x", "get /a", "get core pods p"}},
		"every path J19":                      {pathRule("* *"), []string{"get /metrics", "put /"}, []string{"get core pods p"}},
		"stars only at the end J19":           {pathRule("get /*/x"), []string{"get /*/x"}, []string{"get /a/x"}},
		"rules about resources give no path":  {ruleOf("* * *"), nil, []string{"get /metrics"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, a := range tc.allows {
				if !tc.rule.allows(asked(a)) {
					t.Errorf("does not allow %s", a)
				}
			}
			for _, a := range tc.allowsNot {
				if tc.rule.allows(asked(a)) {
					t.Errorf("allows %s", a)
				}
			}
		})
	}
}

const (
	toJane  = `"subjects":[{"kind":"User","name":"jane"}]`
	reader  = `"roleRef":{"kind":"ClusterRole","name":"reader"}`
	local   = `"roleRef":{"kind":"Role","name":"local"}`
	dangles = `"roleRef":{"kind":"ClusterRole","name":"none"}`
)

// roles returns a world with two roles: the cluster role reader allows reading pods and /metrics,
// the role local in namespace a allows writing config maps.
func roles(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.put("clusterroles", "", "reader", rulesJSON(t, ruleOf("get,list core pods"), pathRule("get /metrics")))
	w.put("roles", "a", "local", rulesJSON(t, ruleOf("update core configmaps")))
	return w
}

func in(namespace, what string) *auth.Attributes {
	a := asked(what)
	a.Namespace = namespace
	return a
}

func TestBindings(t *testing.T) {
	t.Parallel()
	jane := &auth.User{Name: "jane", Groups: []string{"devs", auth.AuthenticatedGroup}}
	robot := &auth.User{Name: "system:serviceaccount:a:robot", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:a"}}
	pods, everywhere := in("a", "get core pods p"), in("", "list core pods -")
	for name, tc := range map[string]struct {
		bind   func(w *world)
		user   *auth.User
		ask    *auth.Attributes
		reason string // empty: refused
	}{
		"nothing is bound":    {func(*world) {}, jane, pods, ""},
		"masters may all J32": {func(*world) {}, &auth.User{Name: "m", Groups: []string{auth.MastersGroup}}, pods, `members of "system:masters" may do everything`},
		"of the cluster J22":  {func(w *world) { w.put("clusterrolebindings", "", "b", reader+","+toJane) }, jane, pods, `RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "reader" to User "jane"`},
		"of the cluster, nowhere J22": {func(w *world) { w.put("clusterrolebindings", "", "b", reader+","+toJane) }, jane, everywhere,
			`RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "reader" to User "jane"`},
		"of the cluster, a path J22": {func(w *world) { w.put("clusterrolebindings", "", "b", reader+","+toJane) }, jane, asked("get /metrics"),
			`RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "reader" to User "jane"`},
		"cluster role in a namespace J23": {func(w *world) { w.put("rolebindings", "a", "b", reader+","+toJane) }, jane, pods,
			`RBAC: allowed by RoleBinding "b/a" of ClusterRole "reader" to User "jane"`},
		"in another namespace J23":    {func(w *world) { w.put("rolebindings", "b", "b", reader+","+toJane) }, jane, pods, ""},
		"in a namespace, nowhere J23": {func(w *world) { w.put("rolebindings", "a", "b", reader+","+toJane) }, jane, everywhere, ""},
		"in a namespace, a path J19":  {func(w *world) { w.put("rolebindings", "a", "b", reader+","+toJane) }, jane, asked("get /metrics"), ""},
		"role of the namespace J23":   {func(w *world) { w.put("rolebindings", "a", "b", local+","+toJane) }, jane, in("a", "update core configmaps c"), `RBAC: allowed by RoleBinding "b/a" of Role "local" to User "jane"`},
		"role of another one J23":     {func(w *world) { w.put("rolebindings", "b", "b", local+","+toJane) }, jane, in("b", "update core configmaps c"), ""},
		"all that is bound counts J21": {func(w *world) {
			w.put("clusterrolebindings", "", "a", dangles+","+toJane)
			w.put("rolebindings", "a", "b", local+","+toJane)
			w.put("rolebindings", "a", "c", reader+","+toJane)
		}, jane, pods, `RBAC: allowed by RoleBinding "c/a" of ClusterRole "reader" to User "jane"`},
		"group J24": {func(w *world) { w.put("rolebindings", "a", "b", reader+`,"subjects":[{"kind":"Group","name":"devs"}]`) }, jane, pods,
			`RBAC: allowed by RoleBinding "b/a" of ClusterRole "reader" to Group "devs"`},
		"a group is no user J24": {func(w *world) { w.put("rolebindings", "a", "b", reader+`,"subjects":[{"kind":"Group","name":"jane"}]`) }, jane, pods, ""},
		"a user is no group J24": {func(w *world) { w.put("rolebindings", "a", "b", reader+`,"subjects":[{"kind":"User","name":"devs"}]`) }, jane, pods, ""},
		"service account J24 J10": {func(w *world) {
			w.put("clusterrolebindings", "", "b", reader+`,"subjects":[{"kind":"ServiceAccount","namespace":"a","name":"robot"}]`)
		}, robot, pods,
			`RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "reader" to ServiceAccount "robot/a"`},
		"service account of the namespace J24": {func(w *world) {
			w.put("rolebindings", "a", "b", reader+`,"subjects":[{"kind":"ServiceAccount","name":"robot"}]`)
		}, robot, pods,
			`RBAC: allowed by RoleBinding "b/a" of ClusterRole "reader" to ServiceAccount "robot/a"`},
		"of another namespace J24": {func(w *world) {
			w.put("rolebindings", "b", "b", reader+`,"subjects":[{"kind":"ServiceAccount","name":"robot"}]`)
		}, robot, in("b", "get core pods p"), ""},
		"dangling J25": {func(w *world) { w.put("clusterrolebindings", "", "b", dangles+","+toJane) }, jane, pods, ""},
		"dangling no more J25": {func(w *world) {
			w.put("clusterrolebindings", "", "b", dangles+","+toJane)
			w.put("clusterroles", "", "none", rulesJSON(t, ruleOf("get core pods")))
		}, jane, pods, `RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "none" to User "jane"`},
		"the role is gone": {func(w *world) {
			w.put("clusterrolebindings", "", "b", reader+","+toJane)
			w.drop("clusterroles", "", "reader")
		}, jane, pods, ""},
		"not there before its initializers A30": {func(w *world) {
			o := object(t, "clusterroles", "", "reader", rulesJSON(t, ruleOf("get core pods")))
			o.Metadata().Make("initializers").Make("pending").Append().Make("name").SetStr("a.b.example.com")
			w.store(o)
			w.put("clusterrolebindings", "", "b", reader+","+toJane)
		}, jane, pods, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := roles(t)
			tc.bind(w)
			e := w.known()
			allowed, reason := e.Explain(tc.user, tc.ask)
			if allowed != (tc.reason != "") || reason != tc.reason {
				t.Errorf("%v: %s", allowed, reason)
			}
			if e.Allows(tc.user, tc.ask) != allowed {
				t.Error("decided otherwise without a reason")
			}
		})
	}
}

// TestNoDecisionsBeforeTheFirstIndex checks that only masters are allowed anything before the first
// index is complete, and that Ready returns an error until then.
func TestNoDecisionsBeforeTheFirstIndex(t *testing.T) {
	t.Parallel()
	w := roles(t)
	w.put("clusterrolebindings", "", "b", reader+","+toJane)
	e, f := w.evaluator()
	jane, master := &auth.User{Name: "jane"}, &auth.User{Name: "m", Groups: []string{auth.MastersGroup}}
	if e.Allows(jane, in("a", "get core pods p")) || !e.Allows(master, in("a", "get core pods p")) || e.Ready() == nil {
		t.Error("decides, or is ready, before it knows anything")
	}
	if r := e.Rules(jane, "a"); r.Incomplete == "" {
		t.Errorf("%+v", r)
	}
	if err := f.advance(t.Context(), w.root); err != nil || e.Ready() != nil || !e.Allows(jane, in("a", "get core pods p")) {
		t.Errorf("does not know: %v, %v", err, e.Ready())
	}
}

// TestRebuildWithoutHistory checks that the index is built from the state if the changes since the
// last index are not available.
func TestRebuildWithoutHistory(t *testing.T) {
	t.Parallel()
	w := newForgetfulWorld(t, 1)
	e, f := w.evaluator()
	jane, ask := &auth.User{Name: "jane"}, in("a", "get core pods p")
	for i := range 3 {
		w.put("clusterroles", "", "reader", rulesJSON(t, ruleOf("get core pods")))
		w.put("clusterrolebindings", "", "b", reader+","+toJane)
		if err := f.advance(t.Context(), w.root); err != nil || !e.Allows(jane, ask) {
			t.Fatalf("%d: %v", i, err)
		}
		w.drop("clusterrolebindings", "", "b")
		w.put("clusterroles", "", "reader", rulesJSON(t, ruleOf("list core pods")))
		if err := f.advance(t.Context(), w.root); err != nil || e.Allows(jane, ask) {
			t.Fatalf("%d: %v", i, err)
		}
	}
}

// TestLaterEventsAreNotIncluded checks that events after the requested state take effect with the
// next index.
func TestLaterEventsAreNotIncluded(t *testing.T) {
	t.Parallel()
	w := roles(t)
	e, f := w.evaluator()
	if err := f.advance(t.Context(), w.root); err != nil {
		t.Fatal(err)
	}
	jane, ask := &auth.User{Name: "jane"}, in("a", "get core pods p")
	w.put("clusterrolebindings", "", "other", reader+`,"subjects":[{"kind":"User","name":"joe"}]`)
	earlier := w.root
	w.put("clusterrolebindings", "", "b", reader+","+toJane)
	if err := f.advance(t.Context(), earlier); err != nil || e.Allows(jane, ask) {
		t.Fatalf("allowed before the binding: %v", err)
	}
	if err := f.advance(t.Context(), w.root); err != nil || !e.Allows(jane, ask) {
		t.Errorf("not allowed after the binding: %v", err)
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	w := roles(t)
	w.put("clusterrolebindings", "", "b", reader+","+toJane)
	w.put("rolebindings", "a", "b", local+","+toJane)
	w.put("rolebindings", "a", "c", reader+","+toJane)
	e := w.known()
	rules := e.Rules(&auth.User{Name: "jane"}, "a")
	if len(rules.Resource) != 3 || len(rules.NonResource) != 1 || rules.Incomplete != "" {
		t.Errorf("%+v", rules)
	}
	if rules = e.Rules(&auth.User{Name: "jane"}, ""); len(rules.Resource) != 1 || rules.NonResource[0].Paths[0] != "/metrics" {
		t.Errorf("%+v", rules)
	}
	w.drop("clusterrolebindings", "", "b")
	if rules = w.known().Rules(&auth.User{Name: "jane"}, "a"); len(rules.Resource) != 2 || len(rules.NonResource) != 0 {
		t.Errorf("J19: a binding of a namespace gives %+v", rules)
	}
	if rules = e.Rules(&auth.User{Name: "m", Groups: []string{auth.MastersGroup}}, ""); rules.Resource[0].Verbs[0] != "*" || rules.NonResource[0].Paths[0] != "*" {
		t.Errorf("%+v", rules)
	}
}
