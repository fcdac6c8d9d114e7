package audit_test

import (
	"strings"
	"testing"

	"quorate/apiserver/access/audit"
	"quorate/apiserver/access/auth"
)

func parse(t *testing.T, rules string) *audit.Policy {
	t.Helper()
	p, err := audit.ParsePolicy([]byte("apiVersion: audit.k8s.io/v1\nkind: Policy\n" + rules))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestFirstMatchWins: the first rule that matches decides, also if it records less than a later
// one.
func TestFirstMatchWins(t *testing.T) {
	t.Parallel()
	p := parse(t, `
metadata: {name: all}
omitManagedFields: true
omitStages: [RequestReceived]
rules:
- {level: None, users: [system:node], verbs: [get, update]}
- {level: None, nonResourceURLs: [/livez*, /version]}
- {level: RequestResponse, userGroups: [auditors], omitStages: [Panic]}
- {level: Request, resources: [{group: "", resources: [configmaps, pods/status], resourceNames: [audited]}]}
- {level: Metadata, namespaces: [prod, ""], resources: [{group: apps}, {group: "", resources: ["*/scale", "events/*"]}]}
- {level: Request, resources: [{group: batch, resources: ["*"]}]}
`)
	node, alice := &auth.User{Name: "system:node"}, &auth.User{Name: "alice"}
	auditor := &auth.User{Name: "bob", Groups: []string{"x", "auditors"}}
	pod := func(subresource, name string) auth.Attributes {
		return auth.Attributes{Verb: "get", Version: "v1", Resource: "pods", Subresource: subresource, Namespace: "prod", Name: name}
	}
	for _, c := range []struct {
		name string
		user *auth.User
		a    auth.Attributes
		want audit.Level
	}{
		{"user and verb", node, auth.Attributes{Verb: "get", Resource: "configmaps", Name: "audited"}, audit.None},
		{"other verb", node, auth.Attributes{Verb: "patch", Resource: "configmaps", Name: "audited"}, audit.Request},
		{"path with prefix", auditor, auth.Attributes{Verb: "get", Path: "/livez/ping"}, audit.None},
		{"path", auditor, auth.Attributes{Verb: "get", Path: "/version"}, audit.None},
		{"other path", auditor, auth.Attributes{Verb: "get", Path: "/version/x"}, audit.RequestResponse},
		{"group of users", auditor, pod("", "x"), audit.RequestResponse},
		{"nobody is no user of a rule", nil, auth.Attributes{Verb: "get", Resource: "jobs", Group: "batch"}, audit.Request},
		{"name", alice, auth.Attributes{Verb: "get", Resource: "configmaps", Name: "audited"}, audit.Request},
		{"other name", alice, auth.Attributes{Verb: "get", Resource: "configmaps", Name: "x", Namespace: "prod"}, audit.None},
		{"subresource", alice, pod("status", "audited"), audit.Request},
		{"the object is not its subresource", alice, pod("", "audited"), audit.None},
		{"subresource of any", alice, pod("scale", "x"), audit.Metadata},
		{"object and subresources", alice, auth.Attributes{Verb: "get", Resource: "events", Namespace: "prod"}, audit.Metadata},
		{"group", alice, auth.Attributes{Verb: "get", Group: "apps", Resource: "deployments", Namespace: "prod"}, audit.Metadata},
		{"group of the stored objects", alice, auth.Attributes{Verb: "get", Group: "apps.example.com", StoredGroup: "apps", Resource: "deployments", Namespace: "prod"}, audit.Metadata},
		{"cluster scope", alice, auth.Attributes{Verb: "get", Group: "apps", Resource: "x"}, audit.Metadata},
		{"other namespace", alice, auth.Attributes{Verb: "get", Group: "apps", Resource: "deployments", Namespace: "dev"}, audit.None},
		{"all of a group", alice, auth.Attributes{Verb: "get", Group: "batch", Resource: "jobs", Subresource: "status"}, audit.Request},
		{"a path is no resource", alice, auth.Attributes{Verb: "get", Path: "/x"}, audit.None},
	} {
		d := p.Decide(c.user, &c.a)
		if d.Level != c.want {
			t.Errorf("%s: %s, want %s", c.name, d.Level, c.want)
		}
		if d.Emits(audit.RequestReceived) || d.Emits(audit.ResponseComplete) != (d.Level != audit.None) {
			t.Errorf("%s: emitted at the wrong stages", c.name)
		}
		if panics := d.Emits(audit.Panic); panics == (c.user == auditor) && d.Level != audit.None {
			t.Errorf("%s: emits a panic: %t", c.name, panics)
		}
	}
}

// TestRefusedPolicies: what is not understood is refused in one line that names the field.
func TestRefusedPolicies(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: audit.k8s.io/v1\nkind: Policy\n"
	rules := func(text string) string { return head + "rules:\n" + text }
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "the file is empty"},
		{"no YAML", "a: [", "yaml: line 1"},
		{"a list", "- a\n", "line 1: want an object"},
		{"two documents", rules("- {level: None}\n") + "---\na: b\n", "more than one document"},
		{"version", "apiVersion: audit.k8s.io/v2\nkind: Policy\nrules: [{level: None}]\n", `apiVersion: "audit.k8s.io/v2": want audit.k8s.io/v1`},
		{"kind", "apiVersion: audit.k8s.io/v1\nkind: Event\nrules: [{level: None}]\n", `kind: "Event": want Policy`},
		{"no rules", head, "rules: there are none"},
		{"unknown field", head + "rule: []\n", "line 3: rule: unknown field; want one of apiVersion, kind, metadata, omitManagedFields, omitStages, rules"},
		{"unknown field of a rule", rules("- {level: None}\n- levle: None\n"), "line 5: rules[1].levle: unknown field; want one of level, namespaces"},
		{"no level", rules("- users: [a]\n"), "line 4: rules[0].level: is required"},
		{"unknown level", rules("- level: Metadat\n"), `line 4: rules[0].level: "Metadat": want one of None, Metadata, Request, RequestResponse`},
		{"unknown stage", rules("- {level: None, omitStages: [Done]}\n"), `rules[0].omitStages[0]: "Done": want one of RequestReceived`},
		{"text for a list", rules("- {level: None, users: alice}\n"), "rules[0].users: want a list"},
		{"number for a text", rules("- {level: None, users: [1]}\n"), "rules[0].users[0]: want a text"},
		{"given twice", rules("- level: None\n  level: Request\n"), "rules[0].level: the field is given twice"},
		{"paths and resources", rules("- {level: None, nonResourceURLs: [/x], resources: [{group: apps}]}\n"), "rules[0].nonResourceURLs: cannot be combined"},
		{"relative path", rules("- {level: None, nonResourceURLs: [x]}\n"), `nonResourceURLs[0]: "x": want a path`},
		{"star within a path", rules("- {level: None, nonResourceURLs: [/a*b]}\n"), "may only be the last"},
		{"group with a version", rules("- {level: None, resources: [{group: apps/v1}]}\n"), `resources[0].group: "apps/v1": want the name`},
		{"names of nothing", rules("- {level: None, resources: [{group: apps, resourceNames: [a]}]}\n"), "resources[0].resourceNames: needs resources"},
		{"pattern", rules("- {level: None, resources: [{group: apps, resources: ['deploy*']}]}\n"), `resources[0].resources[0]: "deploy*": want PLURAL`},
		{"boolean", rules("- {level: None, omitManagedFields: 1}\n"), "omitManagedFields: want true or false"},
	} {
		_, err := audit.ParsePolicy([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	if _, err := audit.ReadPolicy(t.TempDir() + "/none"); err == nil || !strings.Contains(err.Error(), "/none") {
		t.Errorf("missing file: %v", err)
	}
}

// TestPolicyWithAliases: YAML's aliases stand for what they name.
func TestPolicyWithAliases(t *testing.T) {
	t.Parallel()
	p := parse(t, "rules:\n- {level: None, verbs: &reads [get, list]}\n- {level: Request, users: [a], verbs: *reads}\n- {level: Metadata}\n")
	if d := p.Decide(nil, &auth.Attributes{Verb: "list", Resource: "x"}); d.Level != audit.None {
		t.Errorf("%s", d.Level)
	}
}
