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
	out.printf("idle phases %d: %d acts, %d reads, %d that an act explains the failure of, %d findings\n", t.phases, t.acts, t.reads, t.excused, t.failed)
}

// coverage prints which of the planned faults struck, and why the others did not.
func (r *Report) coverage(out *printer) {
	struck, missed := r.struck()
	out.printf("faults: %d struck, %d never did, %d can't be had here\n", len(struck), len(missed), len(r.Unavailable))
	if len(missed) > 0 {
		out.printf("  never struck, for want of a victim or of time: %s\n", strings.Join(missed, ", "))
	}
	for _, u := range r.Unavailable {
		out.printf("  skipped: %s\n", skipped(u))
	}
}

func skipped(u nemesis.Unavailable) string { return fmt.Sprintf("%s: %s", u.Name, u.Why) }

// struck divides the faults planned in the executed phases into those that struck and those that
// did not.
func (r *Report) struck() (struck, missed []string) {
	for _, p := range r.Phases {
		for _, s := range p.Strikes {
			struck = append(struck, s.Fault)
		}
	}
	slices.Sort(struck)
	struck = slices.Compact(struck)
	for _, p := range r.Phases {
		for _, name := range p.Planned {
			if !slices.Contains(struck, name) && !slices.Contains(missed, name) {
				missed = append(missed, name)
			}
		}
	}
	return struck, missed
}
