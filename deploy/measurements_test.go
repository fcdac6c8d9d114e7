//go:build alerts

package deploy_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"
)

// measurement says how long an alert took to fire after a fault, and to clear after its repair.
type measurement struct {
	scenario, alert, fault string
	fired, cleared         time.Duration // 0: it has not cleared
}

// measurements collects what the scenarios measure. It is safe for concurrent use.
type measurements struct {
	mu    sync.Mutex
	all   []measurement // guarded by mu
	ended int           // scenarios that ran to their end; guarded by mu
}

// fired records that an alert fired. If it fires for several nodes, the last one counts.
func (m *measurements) fired(now measurement) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, one := range m.all {
		if one.scenario == now.scenario && one.alert == now.alert {
			m.all[i] = now
			return
		}
	}
	m.all = append(m.all, now)
}

// cleared records that an alert, which has fired in the same scenario, has cleared.
func (m *measurements) cleared(scenario, alert string, after time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, one := range m.all {
		if one.scenario == scenario && one.alert == alert {
			m.all[i].cleared = after
		}
	}
}

// end records that a scenario has ended as it should.
func (m *measurements) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended++
}

// report prints one line for each measurement. If all scenarios have ended, each alert must have
// fired and cleared.
func (m *measurements) report(t *testing.T, scenarios int) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	slices.SortFunc(m.all, func(a, b measurement) int {
		return cmp.Or(strings.Compare(a.alert, b.alert), strings.Compare(a.scenario, b.scenario))
	})
	complete := map[string]bool{}
	var table strings.Builder
	lines := tabwriter.NewWriter(&table, 0, 8, 2, ' ', 0)
	fmt.Fprintln(lines, "ALERT\tFAULT\tFIRES\tCLEARS")
	for _, one := range m.all {
		clears := "-"
		if one.cleared > 0 {
			clears = fmt.Sprintf("%.0f s", one.cleared.Seconds())
			complete[one.alert] = true
		}
		fmt.Fprintf(lines, "%s\t%s\t%.0f s\t%s\n", one.alert, one.fault, one.fired.Seconds(), clears)
	}
	if err := lines.Flush(); err != nil {
		t.Error(err)
	}
	t.Logf("%d of %d scenarios ran to their end\n%s", m.ended, scenarios, table.String())
	for _, r := range readRules(t).all() {
		if m.ended == scenarios && !complete[r.Alert] {
			t.Errorf("%s has not fired and cleared", r.Alert)
		}
	}
}
