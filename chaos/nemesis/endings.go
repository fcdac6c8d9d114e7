package nemesis

import (
	"slices"
	"strings"
	"time"

	"quorate/chaos/nodes"
)

// Ended tells of a node that ended by itself although no strike explains it, or as only a broken
// program does. It is a finding.
type Ended struct {
	Node string    `json:"node"`
	At   time.Time `json:"at"`
	How  string    `json:"how"`
	Line string    `json:"line"` // of its log, that says most about why
}

// Ended are the nodes that ended so, up to now. No strike may be under way.
func (n *Nemesis) Ended() []Ended {
	n.inquire()
	return slices.Clone(n.ended)
}

// inquire looks into how nodes have ended since it was last done.
func (n *Nemesis) inquire() {
	witness, has := nodes.As[nodes.Witness](n.Fleet)
	if !has {
		return
	}
	excused := n.excused
	for _, s := range n.ledger.strikes() { // that could not be healed
		excused = slices.Concat(excused, s.mayEnd, s.endings)
	}
	for _, e := range witness.Endings() {
		line, crashed := lastWords(e)
		if crashed || !slices.Contains(excused, e.Node) {
			n.Log.Warn("nothing excuses that a node ended", "node", e.Node, "how", e.How, "line", line)
			n.ended = append(n.ended, Ended{Node: e.Node, At: e.Time, How: e.How, Line: line})
		}
	}
}

// lastWords are the line of a log that says most about why its node ended, and whether it ended as
// broken programs do.
func lastWords(e nodes.Ending) (line string, crashed bool) {
	lines := strings.Split(strings.TrimSpace(e.Tail), "\n")
	if i := slices.IndexFunc(lines, tellsOfCrash); i >= 0 {
		return lines[i], true
	}
	return lines[len(lines)-1], !slices.Contains(orderly, e.How)
}

// orderly are the ways in which a node may end: it says why, has left, or was killed at a
// failpoint. A panic is an exit status 2.
var orderly = []string{"exit status 0", "exit status 1", "signal: killed"}

// tellsOfCrash reports whether the line is of a panic, or of what the runtime does not survive.
func tellsOfCrash(line string) bool {
	return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") || strings.Contains(line, "SIGSEGV")
}
