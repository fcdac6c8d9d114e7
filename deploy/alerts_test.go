package deploy_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/nodes"
)

const (
	// shipped is the interval of scrapes and evaluations that the rules are written for.
	shipped = 15 * time.Second
	// interval is that of the tests with real nodes, which divide the durations of the rules by
	// shortening.
	interval   = time.Second
	shortening = int(shipped / interval)
	// patience is the time limit of a test with real nodes, for busy machines.
	patience = 5 * time.Minute
)

// namespace is where the tests write.
const namespace = "alerts"

// TestAlertRules runs the unit tests of the alerts.
func TestAlertRules(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"check", "rules", "--lint-fatal", "alerts.yaml"}, {"test", "rules", "alerts_test.yaml"}} {
		if out, err := exec.Command(program(t, "promtool"), args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// TestEachAlertIsTestedAndExplained checks that each alert has a unit test in which it fires, a
// severity, a summary that names what it is about, a row in the table of measurements, and an entry
// in the runbook, which in turn has entries of alerts only.
func TestEachAlertIsTestedAndExplained(t *testing.T) {
	t.Parallel()
	tests, err := os.ReadFile("alerts_test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/alerts.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range readRules(t).all() {
		names = append(names, r.Alert)
		if !strings.Contains(string(tests), `alertname="`+r.Alert+`", alertstate="firing"`) {
			t.Errorf("%s fires in no test of alerts_test.yaml", r.Alert)
		}
		if severity := r.Labels["severity"]; severity != "critical" && severity != "warning" {
			t.Errorf("%s has the severity %q", r.Alert, severity)
		}
		if !regexp.MustCompile(`\$labels\.(member|instance|job)`).MatchString(r.Annotations["summary"]) {
			t.Errorf("the summary of %s names neither a node nor the cluster", r.Alert)
		}
		if want := "docs/alerts.md#" + strings.ToLower(r.Alert); r.Annotations["runbook"] != want {
			t.Errorf("the runbook of %s is %q, want %s", r.Alert, r.Annotations["runbook"], want)
		}
		if !regexp.MustCompile(`(?m)^\| ` + r.Alert + ` \| .+ \| \d+ s \| \d+ s \|$`).Match(page) {
			t.Errorf("docs/alerts.md: the table of measurements lacks %s", r.Alert)
		}
		entry := regexp.MustCompile(`(?ms)^### ` + r.Alert + `$.*?(^#|\z)`).FindString(string(page))
		for _, part := range []string{"**Means**", "**Look at**", "**Do**"} {
			if !strings.Contains(entry, part) {
				t.Errorf("docs/alerts.md: the entry of %s lacks %s", r.Alert, part)
			}
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^### (Quorate\w+)$`).FindAllStringSubmatch(string(page), -1) {
		if !slices.Contains(names, m[1]) {
			t.Errorf("docs/alerts.md explains %s, which is no alert", m[1])
		}
	}
}

// absent are the selectors of expressions that no healthy node has series for.
var absent = []string{`quorate_apiserver_requests_total{code=~"5..", kind!="none"}`}

// selector matches a metric in an expression, with its label matchers.
var selector = regexp.MustCompile(`\bquorate_[a-z0-9_]+(\{[^}]*\})?`)

// TestAlertsOnARealCluster checks that a Prometheus that scrapes three nodes has a series for each
// selector of the alerts and evaluates each of them, and that no alert fires. The death of the
// leader raises the alert that names it, which clears after its restart.
func TestAlertsOnARealCluster(t *testing.T) {
	program(t, "prometheus")
	backups := []string{"--backup-schedule", "@every 1h", "--backup-dir", t.TempDir()}
	f := startFleet(t, patience, nodes.ProcessesConfig{Count: 3, Flags: append(auditFlags(t), backups...)})
	f.use()
	p := startPrometheus(f.ctx, t, prometheusConfig{
		nodes: f.Nodes(), credentials: f.monitoring(), rules: readRules(t).shortened(t, shortening), interval: interval,
	})
	p.awaitScrapes(3)

	for _, r := range readRules(t).all() {
		if _, err := p.query(r.Expr); err != nil {
			t.Errorf("%s: %v", r.Alert, err)
		}
		for _, s := range selector.FindAllString(r.Expr, -1) {
			if !slices.Contains(absent, s) {
				p.await("a node has "+s, func() bool {
					got, err := p.query(s)
					return err == nil && len(got) > 0
				})
			}
		}
	}
	p.checkDashboards(t)
	p.awaitHealthyRules()

	leader, _ := f.leader()
	dead := map[string]string{"member": leader}
	f.must(f.Kill(f.ctx, leader))
	if a := p.awaitFiring("QuorateNodeDown", dead); a.Annotations["summary"] != leader+" of quorate is down" {
		t.Errorf("the summary is %q", a.Annotations["summary"])
	}
	f.must(f.Start(f.ctx, leader))
	p.awaitCleared("QuorateNodeDown", dead)
}

// auditFlags returns flags of a node with an audit log of its own.
func auditFlags(t *testing.T) []string {
	t.Helper()
	policy := write(t, t.TempDir()+"/policy.yaml", "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n")
	return []string{"--audit-policy-file", policy, "--audit-log", "-"}
}

// monitoring returns the credentials of a user whose only role is to read metrics.
func (f *fleet) monitoring() client.Credentials {
	f.t.Helper()
	f.create("clusterroles", `"metadata":{"name":"metrics"},"rules":[{"verbs":["get"],"nonResourceURLs":["/metrics"]}]`)
	f.bind("metrics", "prometheus")
	return f.tokenOf("prometheus")
}

// tokenOf returns the credentials of a user.
func (f *fleet) tokenOf(user string) client.Credentials {
	f.t.Helper()
	token, err := f.Operate(f.ctx, "n1", "token", "create", "--user", user, "--ttl", "1h")
	f.must(err)
	return client.Credentials{CA: f.credentials.CA, Token: strings.TrimSpace(token)}
}

const rbac = "rbac.authorization.k8s.io"

// bind binds a ClusterRole to a user.
func (f *fleet) bind(role, user string) {
	f.t.Helper()
	f.create("clusterrolebindings", fmt.Sprintf(`"metadata":{"name":%q},"roleRef":{"apiGroup":%q,"kind":"ClusterRole","name":%q},`+
		`"subjects":[{"apiGroup":%q,"kind":"User","name":%q}]`, role+"-"+user, rbac, role, rbac, user))
}

// create creates a role or a binding with these fields.
func (f *fleet) create(plural, fields string) {
	f.t.Helper()
	kind := map[string]string{"clusterroles": "ClusterRole", "clusterrolebindings": "ClusterRoleBinding"}[plural]
	body := fmt.Sprintf(`{"kind":%q,"apiVersion":%q,%s}`, kind, rbac+"/v1", fields)
	_, outcome, err := f.clients["n1"].Do(f.ctx, client.Request{Method: http.MethodPost, Path: "/apis/" + rbac + "/v1/" + plural, Body: []byte(body)})
	f.must(err)
	if outcome != client.OK {
		f.t.Fatalf("create %s: %v", plural, outcome)
	}
}

// use sends requests of each verb to each node, so that the metrics of requests have series.
func (f *fleet) use() {
	f.t.Helper()
	_, err := f.clients["n1"].EnsureNamespace(f.ctx, namespace)
	f.must(err)
	for name, one := range f.clients {
		object, _, err := one.Create(f.ctx, namespace, name, map[string]string{"a": "b"})
		f.must(err)
		object, _, err = one.Replace(f.ctx, namespace, object)
		f.must(err)
		_, _, err = one.Get(f.ctx, namespace, name)
		f.must(err)
		_, _, _, err = one.List(f.ctx, namespace, "")
		f.must(err)
		_, _, err = one.Delete(f.ctx, namespace, object)
		f.must(err)
		f.must(one.WatchFor(f.ctx, namespace, 1, 1, func(client.Event) {}))
	}
}

// awaitHealthyRules waits until Prometheus has evaluated each rule without an error, and reports
// alerts that fire without a fault.
func (p *prometheus) awaitHealthyRules() {
	p.t.Helper()
	var data struct {
		Groups []struct {
			Rules []struct{ Name, Health, LastError string }
		}
	}
	p.await("each rule is evaluated", func() bool {
		if err := p.get("/rules", &data); err != nil {
			return false
		}
		evaluated := 0
		for _, g := range data.Groups {
			for _, r := range g.Rules {
				if r.Health == "err" {
					p.t.Fatalf("%s: %s", r.Name, r.LastError)
				}
				if r.Health == "ok" {
					evaluated++
				}
			}
		}
		return evaluated > 0 && evaluated == len(readRules(p.t).all())
	})
	firing, err := p.firing()
	if err != nil {
		p.t.Fatal(err)
	}
	for _, a := range firing {
		p.t.Errorf("%v fires without a fault", a.Labels)
	}
}
