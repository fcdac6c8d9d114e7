package chaos

import (
	"fmt"
	"slices"
	"strings"

	"quorate/chaos/nemesis"
)

// idleTotals sums up the phases without writes.
type idleTotals struct{ phases, acts, reads, excused, failed int }

func (t *idleTotals) add(p *PhaseReport) {
	t.phases++
	t.acts += p.Idle.Acts
	t.reads += p.Idle.Reads
	t.excused += p.Idle.Excused
	t.failed += p.failed()
}

func (t *idleTotals) tell(out *printer) {
	out.printf("idle phases %d: %d acts, %d reads, %d failed reads explained by acts, %d findings\n", t.phases, t.acts, t.reads, t.excused, t.failed)
}

// coverage prints which of the planned faults were injected, and why the others were not.
func (r *Report) coverage(out *printer) {
	injected, missed := r.Injected()
	out.printf("faults: %d injected, %d never injected, %d not possible here\n", len(injected), len(missed), len(r.Unavailable))
	if len(missed) > 0 {
		out.printf("  never injected, because there was no target or no time: %s\n", strings.Join(missed, ", "))
	}
	for _, u := range r.Unavailable {
		out.printf("  skipped: %s\n", skipped(u))
	}
}

func skipped(u nemesis.Unavailable) string { return fmt.Sprintf("%s: %s", u.Name, u.Why) }

// Injected divides the faults that the executed phases planned into those that were injected and
// those that were not.
func (r *Report) Injected() (injected, missed []string) {
	for _, p := range r.Phases {
		for _, s := range p.Injections {
			injected = append(injected, s.Fault)
		}
	}
	slices.Sort(injected)
	injected = slices.Compact(injected)
	for _, p := range r.Phases {
		for _, name := range p.Planned {
			if !slices.Contains(injected, name) && !slices.Contains(missed, name) {
				missed = append(missed, name)
			}
		}
	}
	return injected, missed
}
