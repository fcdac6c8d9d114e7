package rbac

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/objects/schema"
)

func TestMissing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		held, wanted []rule
		missing      string
	}{
		"nothing J30":                  {nil, nil, ""},
		"the same J30":                 {[]rule{ruleOf("get core pods")}, []rule{ruleOf("get core pods")}, ""},
		"by several rules J30":         {[]rule{ruleOf("get core pods"), ruleOf("list core pods,nodes"), ruleOf("get core nodes")}, []rule{ruleOf("get,list core pods,nodes")}, ""},
		"a verb J30":                   {[]rule{ruleOf("get core pods")}, []rule{ruleOf("get,list,watch core pods")}, `{APIGroups:[""], Resources:["pods"], Verbs:["list" "watch"]}`},
		"a group J30":                  {[]rule{ruleOf("get core pods")}, []rule{ruleOf("get core,apps pods")}, `{APIGroups:["apps"], Resources:["pods"], Verbs:["get"]}`},
		"a resource J30":               {[]rule{ruleOf("get core pods")}, []rule{ruleOf("get core pods,nodes")}, `{APIGroups:[""], Resources:["nodes"], Verbs:["get"]}`},
		"wildcards cover J30":          {[]rule{ruleOf("* * *")}, []rule{ruleOf("get core pods,*/status,*"), ruleOf("* apps x")}, ""},
		"and are not covered J30":      {[]rule{ruleOf("get core pods")}, []rule{ruleOf("* core pods")}, `{APIGroups:[""], Resources:["pods"], Verbs:["*"]}`},
		"groups are not covered J30":   {[]rule{ruleOf("get core pods")}, []rule{ruleOf("get * pods")}, `{APIGroups:["*"], Resources:["pods"], Verbs:["get"]}`},
		"all resources J30":            {[]rule{ruleOf("get core pods")}, []rule{ruleOf("get core *")}, `{APIGroups:[""], Resources:["*"], Verbs:["get"]}`},
		"subresource of all J30":       {[]rule{ruleOf("get core */status")}, []rule{ruleOf("get core pods/status,*/status")}, ""},
		"subresource alone J30":        {[]rule{ruleOf("get core pods")}, []rule{ruleOf("get core pods/status")}, `{APIGroups:[""], Resources:["pods/status"], Verbs:["get"]}`},
		"all of a subresource J30":     {[]rule{ruleOf("get core pods/status")}, []rule{ruleOf("get core */status")}, `{APIGroups:[""], Resources:["*/status"], Verbs:["get"]}`},
		"each name J30":                {[]rule{ruleOf("get core pods a"), ruleOf("get core pods b")}, []rule{ruleOf("get core pods a,b")}, ""},
		"another name J30":             {[]rule{ruleOf("get core pods a")}, []rule{ruleOf("get core pods a,b")}, `{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}`},
		"all names J30":                {[]rule{ruleOf("get core pods a")}, []rule{ruleOf("get core pods")}, `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`},
		"names of all J30":             {[]rule{ruleOf("get core pods")}, []rule{ruleOf("get core pods a")}, ""},
		"paths J30":                    {[]rule{pathRule("get /a,/b/*")}, []rule{pathRule("get /a,/b/c,/b/*,/b/c/*")}, ""},
		"another path J30":             {[]rule{pathRule("get /a")}, []rule{pathRule("get /a/*")}, `{NonResourceURLs:["/a/*"], Verbs:["get"]}`},
		"a pattern of one path J30":    {[]rule{pathRule("get /a")}, []rule{pathRule("get /a*")}, `{NonResourceURLs:["/a*"], Verbs:["get"]}`},
		"every path J30":               {[]rule{pathRule("* *")}, []rule{pathRule("post /x")}, ""},
		"no pattern for names J20 J30": {[]rule{ruleOf("get core pods *")}, []rule{ruleOf("get core pods a")}, `{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["get"]}`},
		"nor within paths J19":         {[]rule{pathRule("get **,/a**")}, []rule{pathRule("get *,/a*,/a**,/a*b")}, "{NonResourceURLs:[\"*\"], Verbs:[\"get\"]}\n{NonResourceURLs:[\"/a*\"], Verbs:[\"get\"]}"},
		"paths are no resources J30":   {[]rule{ruleOf("* * *")}, []rule{pathRule("get /a")}, `{NonResourceURLs:["/a"], Verbs:["get"]}`},
		"a line for each, sorted, J28": {nil, []rule{ruleOf("list,get core pods,nodes")}, "{APIGroups:[\"\"], Resources:[\"nodes\"], Verbs:[\"list\" \"get\"]}\n{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"list\" \"get\"]}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			atoms, tooMany := missing(tc.held, tc.wanted)
			if got := describe(atoms); got != tc.missing || tooMany {
				t.Errorf("got %s\nwant %s", got, tc.missing)
			}
		})
	}
}

// TestMissingIsBounded checks the limits on the work of a check, because the combinations of a
// small object can be very many.
func TestMissingIsBounded(t *testing.T) {
	t.Parallel()
	many := make([]string, 200)
	for i := range many {
		many[i] = fmt.Sprint("x", i)
	}
	huge := rule{verbs: many, groups: many, resources: many, names: many}
	if _, tooMany := missing([]rule{ruleOf("get core pods")}, []rule{huge}); !tooMany {
		t.Error("all combinations were looked at")
	}
	if atoms, tooMany := missing([]rule{ruleOf("* * *")}, []rule{huge, huge}); tooMany || len(atoms) > 0 {
		t.Error("one rule that covers it was not found")
	}
	named := rule{verbs: many[:1], groups: many[:1], resources: many[:1], names: make([]string, 100_000)}
	for i := range named.names {
		named.names[i] = fmt.Sprint("name", i)
	}
	reversed := named
	reversed.names = slices.Clone(named.names)
	slices.Reverse(reversed.names)
	if _, tooMany := missing([]rule{named}, []rule{reversed}); !tooMany {
		t.Error("compared with any number of names")
	}
	if _, tooMany := missing(slices.Repeat([]rule{named}, 2_000), []rule{ruleOf("get core a")}); !tooMany {
		t.Error("compared with any number of rules")
	}
	atoms, _ := missing(nil, []rule{{verbs: []string{"get"}, groups: many[:1], resources: many}})
	if lines := strings.Split(describe(atoms), "\n"); len(lines) != maxDescribed+1 || lines[maxDescribed] != "and 100 more" {
		t.Errorf("%d lines, at last %s", len(lines), lines[len(lines)-1])
	}
}

func TestEscalation(t *testing.T) {
	t.Parallel()
	jane := &auth.User{Name: "jane", Groups: []string{"devs"}}
	role := func(rules ...rule) *schema.Object { return object(t, "roles", "a", "r", rulesJSON(t, rules...)) }
	clusterRole := func(rules ...rule) *schema.Object { return object(t, "clusterroles", "", "r", rulesJSON(t, rules...)) }
	binding := func(ref string) *schema.Object {
		return object(t, "rolebindings", "a", "x", ref+`,"subjects":[{"kind":"User","name":"joe"}]`)
	}
	clusterBinding := func(ref string) *schema.Object {
		return object(t, "clusterrolebindings", "", "x", ref+`,"subjects":[{"kind":"User","name":"joe"}]`)
	}
	bindingToJim := object(t, "rolebindings", "a", "x", reader+`,"subjects":[{"kind":"User","name":"jim"}]`)
	const attempt = `user "jane" (groups=["devs"]) is attempting to grant RBAC permissions not currently held:` + "\n"
	everywhere := func(w *world) { w.put("clusterrolebindings", "", "b", reader+","+toJane) }
	here := func(w *world) { w.put("rolebindings", "a", "b", reader+","+toJane) }
	may := func(what string) func(w *world) {
		return func(w *world) {
			w.put("roles", "a", "may", rulesJSON(t, ruleOf(what)))
			w.put("rolebindings", "a", "may", `"roleRef":{"kind":"Role","name":"may"},`+toJane)
		}
	}
	for name, tc := range map[string]struct {
		held   func(w *world)
		writes *schema.Object
		old    *schema.Object
		why    string
	}{
		"role not held J28":             {func(*world) {}, role(ruleOf("get core pods")), nil, attempt + `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`},
		"role held everywhere J28":      {everywhere, role(ruleOf("get core pods")), nil, ""},
		"role held here J28":            {here, role(ruleOf("get core pods")), nil, ""},
		"cluster role held here J28":    {here, clusterRole(ruleOf("get core pods")), nil, attempt + `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`},
		"cluster role held J28":         {everywhere, clusterRole(ruleOf("get core pods"), pathRule("get /metrics")), nil, ""},
		"more than held J28":            {everywhere, clusterRole(ruleOf("get,delete core pods")), nil, attempt + `{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}`},
		"verb escalate J28":             {may("escalate " + group + " roles"), role(ruleOf("* * *")), nil, ""},
		"verb escalate on it J28":       {may("escalate " + group + " roles r"), role(ruleOf("* * *")), nil, ""},
		"verb escalate elsewhere J28":   {may("escalate " + group + " roles"), clusterRole(ruleOf("x core y")), nil, attempt + `{APIGroups:[""], Resources:["y"], Verbs:["x"]}`},
		"rules as they are J31":         {func(*world) {}, role(ruleOf("get core pods")), role(ruleOf("get core pods")), ""},
		"rules changed J31":             {everywhere, role(ruleOf("get core nodes")), role(ruleOf("get core pods")), attempt + `{APIGroups:[""], Resources:["nodes"], Verbs:["get"]}`},
		"binding of more J29":           {func(*world) {}, binding(reader), nil, attempt + `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`},
		"binding of what is held J29":   {here, binding(reader), nil, ""},
		"in all of the cluster J29":     {here, clusterBinding(reader), nil, attempt + "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\" \"list\"]}\n{NonResourceURLs:[\"/metrics\"], Verbs:[\"get\"]}"},
		"held in all of the cluster":    {everywhere, clusterBinding(reader), nil, ""},
		"binding of a local role J29":   {func(*world) {}, binding(local), nil, attempt + `{APIGroups:[""], Resources:["configmaps"], Verbs:["update"]}`},
		"verb bind J29":                 {may("bind " + group + " clusterroles reader"), binding(reader), nil, ""},
		"verb bind on a role J29":       {may("bind " + group + " roles"), binding(local), nil, ""},
		"verb bind on another J29":      {may("bind " + group + " clusterroles other"), binding(reader), nil, attempt + `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`},
		"verb bind elsewhere J29":       {may("bind " + group + " clusterroles"), clusterBinding(reader), nil, attempt + "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\" \"list\"]}\n{NonResourceURLs:[\"/metrics\"], Verbs:[\"get\"]}"},
		"binding of a role to come J25": {everywhere, binding(dangles), nil, `user "jane" (groups=["devs"]) is attempting to bind clusterroles "none", which is not there: this needs the verb "bind" on it`},
		"verb bind on one to come J25":  {may("bind " + group + " clusterroles none"), binding(dangles), nil, ""},
		"binding as it is J31":          {func(*world) {}, binding(reader), binding(reader), ""},
		"binding for another J31":       {func(*world) {}, binding(reader), bindingToJim, attempt + `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := roles(t)
			tc.held(w)
			e := w.known()
			if why, err := e.Escalation(context.Background(), jane, tc.writes, tc.old); err != nil || why != tc.why {
				t.Errorf("got  %s, %v\nwant %s", why, err, tc.why)
			}
			master := &auth.User{Name: "jane", Groups: []string{auth.MastersGroup}}
			if why, err := e.Escalation(context.Background(), master, tc.writes, tc.old); err != nil || why != "" {
				t.Errorf("J32: %s, %v", why, err)
			}
		})
	}
}

// TestUncomparedEscalationsAreCounted: a role with too many combinations is refused and counted
// apart from other refusals.
func TestUncomparedEscalationsAreCounted(t *testing.T) {
	t.Parallel()
	e := roles(t).known()
	many := make([]string, 200)
	for i := range many {
		many[i] = fmt.Sprintf(`"x%d"`, i)
	}
	list := "[" + strings.Join(many, ",") + "]"
	for _, tc := range []struct {
		names   string
		counted float64
	}{
		{`["a"]`, 0}, {list, 1},
	} {
		o := object(t, "roles", "a", "x", `"rules":[{"apiGroups":[""],"verbs":`+list+`,"resources":`+tc.names+`,"resourceNames":`+tc.names+`}]`)
		if why, err := e.Escalation(t.Context(), &auth.User{Name: "jane"}, o, nil); err != nil || why == "" {
			t.Errorf("not refused: %v", err)
		}
		var m dto.Metric
		if err := e.metrics.uncompared.Write(&m); err != nil || m.GetCounter().GetValue() != tc.counted {
			t.Errorf("counts %v, %v, want %v", m.GetCounter().GetValue(), err, tc.counted)
		}
	}
}

// TestEscalationDoesNotModifyRules checks that a refused attempt to bind a cluster role in a
// namespace does not change the rules of users who have that role.
func TestEscalationDoesNotModifyRules(t *testing.T) {
	t.Parallel()
	w := roles(t)
	w.put("clusterrolebindings", "", "b", reader+","+toJane)
	e := w.known()
	jane, joe := &auth.User{Name: "jane"}, &auth.User{Name: "joe"}
	bindings := object(t, "rolebindings", "a", "x", reader+`,"subjects":[{"kind":"User","name":"joe"}]`)
	inCluster := object(t, "clusterrolebindings", "", "x", reader+`,"subjects":[{"kind":"User","name":"joe"}]`)
	refusals := func() (texts []string) {
		for _, o := range []*schema.Object{inCluster, bindings} {
			why, err := e.Escalation(t.Context(), joe, o, nil)
			if err != nil || why == "" {
				t.Fatalf("not refused: %v", err)
			}
			texts = append(texts, why)
		}
		return texts
	}
	first := refusals()
	if second := refusals(); !slices.Equal(first, second) {
		t.Errorf("refused with %q, then with %q", first, second)
	}
	if why, err := e.Escalation(t.Context(), jane, bindings, nil); err != nil || why != "" {
		t.Errorf("jane may not bind what she holds: %s, %v", why, err)
	}
	for _, what := range []string{"get /metrics", "get core pods p", "list core pods -"} {
		if !e.Allows(jane, asked(what)) {
			t.Errorf("jane may not %s any more", what)
		}
	}
}

// TestEscalationOfViews checks that the legacy form of a binding is checked as the stored form is
// (J44), and that objects that grant nothing are not checked.
func TestEscalationOfViews(t *testing.T) {
	t.Parallel()
	c, err := catalog()
	if err != nil {
		t.Fatal(err)
	}
	e := roles(t).known()
	jane := &auth.User{Name: "jane"}
	legacy, _, err := c.Kind("/oapi/v1", "clusterrolebindings").Decode([]byte(`{"metadata":{"name":"b"},"roleRef":{"name":"reader"},"userNames":["jane"]}`))
	if err != nil {
		t.Fatal(err)
	}
	legacy.Kind.PrepareCreate(legacy)
	why, err := e.Escalation(t.Context(), jane, legacy, nil)
	if err != nil || !strings.Contains(why, `Resources:["pods"]`) {
		t.Errorf("%s, %v", why, err)
	}
	if why, err := e.Escalation(t.Context(), jane, c.Kind("/api/v1", "pods").New(), nil); err != nil || why != "" {
		t.Errorf("%s, %v", why, err)
	}
	if !slices.ContainsFunc(c.Kinds(), func(k *schema.Kind) bool { return k.Kind == "ClusterRole" && k.Version == "v1beta1" }) {
		t.Fatal("no view of cluster roles")
	}
	for _, version := range []string{"v1", "v1beta1"} {
		o, _, err := c.Kind("/apis/"+group+"/"+version, "clusterroles").Decode([]byte(`{"metadata":{"name":"r"},"rules":[{"verbs":["x"],"apiGroups":[""],"resources":["y"]}]}`))
		if err != nil {
			t.Fatal(err)
		}
		if why, err := e.Escalation(t.Context(), jane, o, nil); err != nil || !strings.Contains(why, `Resources:["y"]`) {
			t.Errorf("%s: %s, %v", version, why, err)
		}
	}
}
