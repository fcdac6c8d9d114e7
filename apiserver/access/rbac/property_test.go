package rbac

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"quorate/apiserver/access/auth"
)

// The property test draws from few names, so that its roles, bindings and requests often match.
var (
	someNames      = []string{"a", "b", "c"}
	someNamespaces = []string{"x", "y"}
	someVerbs      = []string{"get", "list", "*"}
	someResources  = []string{"pods", "nodes", "pods/status", "*/status", "*"}
)

// model contains the roles and bindings of the naive evaluator.
type model struct {
	roles    map[roleName][]rule
	bindings map[roleName]grant // by namespace and name
}

type grant struct {
	role     roleName
	subjects []who
}

type who struct{ kind, namespace, name string }

// allows implements rows J18 to J24 literally.
func (m *model) allows(u *auth.User, a *auth.Attributes) bool {
	for of, g := range m.bindings {
		if of.namespace != "" && (a.Path != "" || of.namespace != a.Namespace) {
			continue
		}
		named := slices.ContainsFunc(g.subjects, func(s who) bool {
			switch s.kind {
			case "Group":
				return slices.Contains(u.Groups, s.name)
			case "ServiceAccount":
				namespace := s.namespace
				if namespace == "" {
					namespace = of.namespace
				}
				return u.Name == "system:serviceaccount:"+namespace+":"+s.name
			}
			return u.Name == s.name
		})
		if named && slices.ContainsFunc(m.roles[g.role], func(r rule) bool { return naive(&r, a) }) {
			return true
		}
	}
	return false
}

func naive(r *rule, a *auth.Attributes) bool {
	has := func(list []string, s string) bool { return slices.Contains(list, s) || slices.Contains(list, "*") }
	if a.Path != "" {
		return has(r.verbs, a.Verb) && has(r.paths, a.Path)
	}
	resource, ofAll := a.Resource, "no such"
	if a.Subresource != "" {
		resource, ofAll = a.Resource+"/"+a.Subresource, "*/"+a.Subresource
	}
	return has(r.verbs, a.Verb) && has(r.groups, a.Group) && (has(r.resources, resource) || slices.Contains(r.resources, ofAll)) &&
		(len(r.names) == 0 || slices.Contains(r.names, a.Name))
}

func some(t *rapid.T, from []string, label string) []string {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(from), 1, 2, rapid.ID[string]).Draw(t, label)
}

// change applies one random write to both model and world.
func (m *model) change(t *rapid.T, w *world) {
	namespace := rapid.SampledFrom(append([]string{""}, someNamespaces...)).Draw(t, "namespace")
	at := roleName{namespace, rapid.SampledFrom(someNames).Draw(t, "name")}
	roles, bindings := "clusterroles", "clusterrolebindings"
	if namespace != "" {
		roles, bindings = "roles", "rolebindings"
	}
	switch rapid.SampledFrom([]string{"role", "binding", "binding", "no role", "no binding"}).Draw(t, "does") {
	case "role":
		m.roles[at] = drawRules(t, namespace)
		w.put(roles, at.namespace, at.name, rulesJSON(t, m.roles[at]...))
	case "no role":
		delete(m.roles, at)
		w.drop(roles, at.namespace, at.name)
	case "binding":
		w.drop(bindings, at.namespace, at.name) // its reference does not change
		g := grant{role: roleName{name: rapid.SampledFrom(someNames).Draw(t, "role")}}
		kind := kindClusterRole
		if namespace != "" && rapid.Bool().Draw(t, "local") {
			kind, g.role.namespace = kindRole, namespace
		}
		g.subjects = drawSubjects(t, namespace)
		m.bindings[at] = g
		w.put(bindings, at.namespace, at.name, fmt.Sprintf(`"roleRef":{"kind":%q,"name":%q},"subjects":[%s]`, kind, g.role.name, subjectsJSON(g.subjects)))
	case "no binding":
		delete(m.bindings, at)
		w.drop(bindings, at.namespace, at.name)
	}
}

func drawRules(t *rapid.T, namespace string) []rule {
	rules := make([]rule, rapid.IntRange(1, 2).Draw(t, "rules"))
	for i := range rules {
		rules[i] = rule{verbs: some(t, someVerbs, "verbs")}
		if namespace == "" && rapid.Bool().Draw(t, "paths") {
			rules[i].paths = some(t, []string{"/p", "/q", "*"}, "paths")
			continue
		}
		rules[i].groups = some(t, []string{"", "apps", "*"}, "groups")
		rules[i].resources = some(t, someResources, "resources")
		if rapid.Bool().Draw(t, "named") {
			rules[i].names = some(t, someNames, "names")
		}
	}
	return rules
}

func drawSubjects(t *rapid.T, namespace string) []who {
	subjects := make([]who, rapid.IntRange(0, 3).Draw(t, "subjects"))
	for i := range subjects {
		subjects[i] = who{kind: rapid.SampledFrom([]string{"User", "Group", "ServiceAccount"}).Draw(t, "kind"), name: rapid.SampledFrom(someNames).Draw(t, "subject")}
		if subjects[i].kind == "ServiceAccount" && (namespace == "" || rapid.Bool().Draw(t, "elsewhere")) {
			subjects[i].namespace = rapid.SampledFrom(someNamespaces).Draw(t, "of")
		}
	}
	return subjects
}

func subjectsJSON(subjects []who) string {
	all := make([]string, len(subjects))
	for i, s := range subjects {
		all[i] = fmt.Sprintf(`{"kind":%q,"namespace":%q,"name":%q}`, s.kind, s.namespace, s.name)
	}
	return strings.Join(all, ",")
}

// question is a user's request with the model's decision.
type question struct {
	user    *auth.User
	about   *auth.Attributes
	allowed bool
	// somewhere: it is allowed in one namespace at least, or in the whole cluster.
	somewhere bool
}

func (m *model) questions(t *rapid.T) []question {
	all := make([]question, 20)
	for i := range all {
		u := &auth.User{Name: rapid.SampledFrom(append(someNames, "system:serviceaccount:x:a", "system:serviceaccount:y:b")).Draw(t, "user")}
		u.Groups = rapid.SliceOfNDistinct(rapid.SampledFrom(someNames), 0, 2, rapid.ID[string]).Draw(t, "groups")
		a := &auth.Attributes{Verb: rapid.SampledFrom([]string{"get", "list", "delete"}).Draw(t, "verb")}
		if rapid.IntRange(0, 4).Draw(t, "path") == 0 {
			a.Path = rapid.SampledFrom([]string{"/p", "/q", "/r"}).Draw(t, "path")
		} else {
			a.Group = rapid.SampledFrom([]string{"", "apps"}).Draw(t, "group")
			a.Resource = rapid.SampledFrom([]string{"pods", "nodes"}).Draw(t, "resource")
			a.Subresource = rapid.SampledFrom([]string{"", "status"}).Draw(t, "subresource")
			a.Namespace = rapid.SampledFrom(append([]string{""}, someNamespaces...)).Draw(t, "in")
			a.Name = rapid.SampledFrom(append([]string{""}, someNames...)).Draw(t, "named")
		}
		somewhere := false
		for _, namespace := range append([]string{""}, someNamespaces...) {
			there := *a
			there.Namespace = namespace
			somewhere = somewhere || m.allows(u, &there)
		}
		all[i] = question{u, a, m.allows(u, a), somewhere}
	}
	return all
}

func check(t *rapid.T, what string, x *index, questions []question) {
	for _, q := range questions {
		if _, b := x.granting(q.user, q.about); (b != nil) != q.allowed {
			t.Fatalf("%s: %+v %+v: want %v", what, *q.user, *q.about, q.allowed)
		}
		if q.about.Path != "" {
			continue
		}
		if somewhere := x.allowsSomewhere(q.user, q.about); somewhere != q.somewhere {
			t.Fatalf("%s: %+v %+v somewhere: want %v", what, *q.user, *q.about, q.somewhere)
		}
	}
}

// TestIndexFollows checks that after random writes the index that follows changes, an index built
// from the state, and the naive model make the same decisions, and that published indexes do not
// change.
func TestIndexFollows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		m := &model{roles: map[roleName][]rule{}, bindings: map[roleName]grant{}}
		e, f := w.evaluator()
		type past struct {
			index     *index
			questions []question
		}
		var history []past
		t.Repeat(map[string]func(*rapid.T){
			"change":     func(t *rapid.T) { m.change(t, w) },
			"begin anew": func(*rapid.T) { f.drafts = nil },
			"": func(t *rapid.T) {
				if err := f.advance(context.Background(), w.root); err != nil {
					t.Fatalf("%v", err)
				}
				questions, x, fresh := m.questions(t), e.current.Load(), w.known().current.Load()
				check(t, "followed", x, questions)
				check(t, "made at once", fresh, questions)
				if x.roleCount != len(m.roles) || x.bindingCount != len(m.bindings) || fresh.roleCount != x.roleCount || fresh.bindingCount != x.bindingCount {
					t.Fatalf("%d roles and %d bindings, want %d and %d", x.roleCount, x.bindingCount, len(m.roles), len(m.bindings))
				}
				history = append(history, past{x, questions})
				for _, p := range history {
					check(t, "as it was", p.index, p.questions)
				}
			},
		})
	})
}

// TestCoveredRulesAllowNoMore checks that every request that a covered rule allows is also allowed
// by the rules that cover it.
func TestCoveredRulesAllowNoMore(t *testing.T) {
	t.Parallel()
	odd := func(t *rapid.T) []rule { // with stars and slashes where they have no meaning
		rules := drawRules(t, "")
		for i := range rules {
			r := &rules[i]
			switch {
			case !rapid.Bool().Draw(t, "odd"):
			case len(r.paths) > 0:
				r.paths = some(t, []string{"/p", "/p*", "/*", "/**", "/p**", "*", "**"}, "paths")
			default:
				r.resources = some(t, []string{"pods", "pods/", "pods/*", "*/", "*/status", "pod*"}, "resources")
				r.names = some(t, []string{"a", "*"}, "names")
			}
		}
		return rules
	}
	rapid.Check(t, func(t *rapid.T) {
		held, wanted := append(odd(t), odd(t)...), odd(t)
		if atoms, tooMany := missing(held, wanted); len(atoms) > 0 || tooMany {
			return
		}
		for _, q := range (&model{}).questions(t) {
			allowed := func(r rule) bool { return r.allows(q.about) }
			if slices.ContainsFunc(wanted, allowed) && !slices.ContainsFunc(held, allowed) {
				t.Fatalf("%+v allow %+v, which %+v do not", wanted, *q.about, held)
			}
		}
	})
}
