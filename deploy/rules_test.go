package deploy_test

import (
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// rules are the contents of alerts.yaml.
type rules struct {
	Groups []group `json:"groups"`
}

type group struct {
	Name  string `json:"name"`
	Rules []rule `json:"rules"`
}

type rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for,omitempty"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// readRules reads alerts.yaml.
func readRules(t *testing.T) rules {
	t.Helper()
	text, err := os.ReadFile("alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var r rules
	if err := yaml.UnmarshalStrict(text, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// all returns the rules of all groups.
func (r rules) all() (all []rule) {
	for _, g := range r.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

// duration matches what expressions have as ranges and offsets, such as [5m] and offset 1m.
var duration = regexp.MustCompile(`(\[|\boffset )(\d+)([smhd])`)

// overdue matches what an expression allows to pass since a time, in seconds.
var overdue = regexp.MustCompile(`(^time\(\) - .* > )(\d+)$`)

var units = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}

// shortened returns the rules with each duration, that of "for" and those of ranges, offsets and
// delays, divided by factor, for a Prometheus that scrapes and evaluates as many times more often.
func (r rules) shortened(t *testing.T, factor int) rules {
	t.Helper()
	var short rules
	for _, g := range r.Groups {
		g.Rules = append([]rule(nil), g.Rules...)
		for i := range g.Rules {
			one := &g.Rules[i]
			if one.For != "" {
				d, err := time.ParseDuration(one.For)
				if err != nil {
					t.Fatalf("%s: %v", one.Alert, err)
				}
				one.For = milliseconds(d, factor)
			}
			one.Expr = shorten(one.Expr, factor)
		}
		short.Groups = append(short.Groups, g)
	}
	return short
}

// shorten divides the ranges and offsets of an expression by factor, and what it allows to pass
// since a time.
func shorten(expr string, factor int) string {
	if m := overdue.FindStringSubmatch(expr); m != nil {
		seconds, err := strconv.Atoi(m[2])
		if err != nil {
			panic(err) // the expression matches digits only
		}
		return m[1] + strconv.Itoa(seconds/factor)
	}
	return duration.ReplaceAllStringFunc(expr, func(found string) string {
		m := duration.FindStringSubmatch(found)
		n, err := strconv.Atoi(m[2])
		if err != nil {
			panic(err) // the expression matches digits only
		}
		return m[1] + milliseconds(time.Duration(n)*units[m[3]], factor)
	})
}

func milliseconds(d time.Duration, factor int) string {
	return strconv.FormatInt((d/time.Duration(factor)).Milliseconds(), 10) + "ms"
}

func TestShortened(t *testing.T) {
	t.Parallel()
	r := rules{Groups: []group{{Rules: []rule{{
		For: "1m", Expr: `rate(a[5m]) < max(c offset 1m) + predict_linear(d[1h], 6 * 3600)`,
	}}}}}
	got := r.shortened(t, 15).all()[0]
	const want = `rate(a[20000ms]) < max(c offset 4000ms) + predict_linear(d[240000ms], 6 * 3600)`
	if got.For != "4000ms" || got.Expr != want {
		t.Errorf("got %s for %s", got.Expr, got.For)
	}
	if got := shorten("time() - max by (job) (a) > 3600", 15); got != "time() - max by (job) (a) > 240" {
		t.Errorf("got %s", got)
	}
	if r.all()[0].For != "1m" {
		t.Error("the original has changed")
	}
}
