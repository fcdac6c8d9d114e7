package deploy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// minSchemaVersion is the version of Grafana's format of dashboards since Grafana 10, which newer
// versions read as well.
const minSchemaVersion = 39

// dashboardColumns is the width of Grafana's grid.
const dashboardColumns = 24

// dashboard is the part of Grafana's format that the tests check.
type dashboard struct {
	UID, Title, Description, Refresh string
	SchemaVersion                    int
	Tags                             []string
	Time                             struct{ From, To string }
	Templating                       struct{ List []variable }
	Annotations                      struct{ List []annotation }
	Panels                           []panel
}

type annotation struct {
	Name, Expr string
	Datasource datasource
}

type variable struct {
	Name, Type, Label string
	Query             any // text of a datasource, else an object
	Definition        string
}

type datasource struct{ Type, UID string }

type panel struct {
	ID                       int
	Type, Title, Description string
	Datasource               datasource
	GridPos                  struct{ H, W, X, Y int }
	FieldConfig              struct{ Defaults struct{ Unit string } }
	Targets                  []target
}

type target struct {
	RefID, Expr, LegendFormat string
	Datasource                datasource
}

// dashboardUnits are the ids of Grafana's units that the panels use.
var dashboardUnits = map[string]bool{
	"short": true, "none": true, "s": true, "bytes": true, "Bps": true, "ops": true, "reqps": true, "percentunit": true,
}

// readDashboards returns the dashboards by the names of their files.
func readDashboards(t *testing.T) map[string]dashboard {
	t.Helper()
	paths, err := filepath.Glob("grafana/*.json")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]dashboard{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var d dashboard
		if err := json.NewDecoder(bytes.NewReader(text)).Decode(&d); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all[strings.TrimSuffix(filepath.Base(path), ".json")] = d
	}
	return all
}

// TestDashboards checks what Grafana needs of a dashboard: an id, a version of the format, the
// variables, and panels with ids, units and queries, which do not overlap.
func TestDashboards(t *testing.T) {
	t.Parallel()
	all := readDashboards(t)
	for _, name := range []string{"cluster", "api", "storage", "watches"} {
		d, ok := all[name]
		if !ok {
			t.Errorf("there is no dashboard grafana/%s.json", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			if d.UID != "quorate-"+name || len(d.UID) > 40 || d.Title == "" || d.Description == "" || d.Time.From == "" || d.Refresh == "" {
				t.Errorf("uid %q, title %q, description %q, time %q, refresh %q", d.UID, d.Title, d.Description, d.Time.From, d.Refresh)
			}
			if d.SchemaVersion < minSchemaVersion {
				t.Errorf("the version of the format is %d, want at least %d", d.SchemaVersion, minSchemaVersion)
			}
			checkVariables(t, d)
			checkPanels(t, d.Panels)
		})
	}
	if len(all) != 4 {
		t.Errorf("there are %d dashboards, want 4", len(all))
	}
}

// checkVariables checks that the data source, the cluster and the nodes can be chosen, and that
// nothing depends on a certain data source.
func checkVariables(t *testing.T, d dashboard) {
	t.Helper()
	var got []string
	for _, v := range d.Templating.List {
		got = append(got, v.Name+" "+v.Type)
		if v.Label == "" {
			t.Errorf("the variable %s has no label", v.Name)
		}
	}
	if want := "[datasource datasource job query instance query]"; fmt.Sprint(got) != want {
		t.Errorf("the variables are %v, want %s", got, want)
	}
	want := datasource{Type: "prometheus", UID: "${datasource}"}
	for _, a := range d.Annotations.List {
		if a.Datasource != want {
			t.Errorf("the annotation %s has the data source %v", a.Name, a.Datasource)
		}
	}
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			if p.Datasource != want || q.Datasource != want {
				t.Errorf("%q has the data source %v, its query %s %v", p.Title, p.Datasource, q.RefID, q.Datasource)
			}
		}
	}
}

// checkPanels checks each panel, and that no two have the same place, id or title.
func checkPanels(t *testing.T, panels []panel) {
	t.Helper()
	taken := map[[2]int]string{}
	ids, titles := map[int]bool{}, map[string]bool{}
	for _, p := range panels {
		if p.ID == 0 || ids[p.ID] || p.Title == "" || titles[p.Title] {
			t.Errorf("the id %d or the title %q is missing or not the only one", p.ID, p.Title)
		}
		ids[p.ID], titles[p.Title] = true, true
		at := p.GridPos
		if at.W < 1 || at.H < 1 || at.X < 0 || at.Y < 0 || at.X+at.W > dashboardColumns {
			t.Errorf("%q has the place %+v", p.Title, at)
		}
		for x := at.X; x < at.X+at.W; x++ {
			for y := at.Y; y < at.Y+at.H; y++ {
				if other, found := taken[[2]int{x, y}]; found {
					t.Fatalf("%q overlaps %q", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if p.Type != "timeseries" && p.Type != "stat" && p.Type != "table" {
			t.Errorf("%q has the type %q", p.Title, p.Type)
		}
		if !dashboardUnits[p.FieldConfig.Defaults.Unit] {
			t.Errorf("%q has the unit %q", p.Title, p.FieldConfig.Defaults.Unit)
		}
		refs := map[string]bool{}
		for _, q := range p.Targets {
			if q.RefID == "" || refs[q.RefID] || q.Expr == "" {
				t.Errorf("%q has the query %+v", p.Title, q)
			}
			refs[q.RefID] = true
		}
		if len(refs) == 0 {
			t.Errorf("%q has no query", p.Title)
		}
	}
}

// unused are the histograms that have no observation on a healthy node, and so no series.
var unused = []string{"quorate_raftstore_history_log_read_wait_seconds"}

// checkDashboards evaluates the queries of all dashboards as Grafana would, and checks that each
// has a result, but those of unused histograms. Some need two scrapes.
func (p *prometheus) checkDashboards(t *testing.T) {
	t.Helper()
	queries := 0
	for name, d := range readDashboards(t) {
		for _, panel := range d.Panels {
			for _, q := range panel.Targets {
				queries++
				expr := substitute(q.Expr)
				var err error
				p.await(fmt.Sprintf("%s, %q has data: %s", name, panel.Title, expr), func() bool {
					var got []sample
					got, err = p.query(expr)
					return err != nil || len(got) > 0 || slices.ContainsFunc(unused, func(h string) bool { return strings.Contains(expr, h) })
				})
				if err != nil {
					t.Errorf("%s, %q: %v", name, panel.Title, err)
				}
			}
		}
		for _, v := range d.Templating.List {
			if v.Type == "query" {
				p.checkVariable(t, name, v)
			}
		}
		for _, a := range d.Annotations.List {
			if _, err := p.query(substitute(a.Expr)); err != nil {
				t.Errorf("%s, annotation %s: %v", name, a.Name, err)
			}
		}
	}
	if queries < 80 {
		t.Errorf("the dashboards have %d queries", queries)
	}
}

// labelValues matches the query of a variable.
var labelValues = regexp.MustCompile(`^label_values\((.*), (\w+)\)$`)

// checkVariable checks that a variable has values.
func (p *prometheus) checkVariable(t *testing.T, name string, v variable) {
	t.Helper()
	m := labelValues.FindStringSubmatch(v.Definition)
	if m == nil {
		t.Errorf("%s: the variable %s is %q", name, v.Name, v.Definition)
		return
	}
	got, err := p.query(fmt.Sprintf(`count by (%s) (%s)`, m[2], substitute(m[1])))
	if err != nil || len(got) == 0 || got[0].Metric[m[2]] == "" {
		t.Errorf("%s: the variable %s has the values %v, %v", name, v.Name, got, err)
	}
}

// substitute replaces the variables of a query as Grafana does for all nodes of the cluster.
func substitute(expr string) string {
	return strings.NewReplacer("$job", "quorate", "$instance", ".*", "$__rate_interval", rateInterval.String()).Replace(expr)
}

// rateInterval is what Grafana has for $__rate_interval: four scrapes at least.
const rateInterval = 10 * interval
