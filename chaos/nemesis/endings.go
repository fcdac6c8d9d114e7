package nemesis

import (
	"slices"
	"strings"
	"time"

	"quorate/chaos/nodes"
)

// Ended describes a node that ended by itself although no injection explains it, or that crashed.
// It is a finding.
type Ended struct {
	Node string    `json:"node"`
	At   time.Time `json:"at"`
	How  string    `json:"how"`
	Line string    `json:"line"` // the line of its log that best explains the end
}

// Ended returns the nodes that have ended without explanation so far. No injection may be in
// progress.
func (n *Nemesis) Ended() []Ended {
	n.examineEndings()
	return slices.Clone(n.ended)
}

// examineEndings examines the nodes that have ended since the last call.
func (n *Nemesis) examineEndings() {
	witness, has := nodes.As[nodes.Witness](n.Fleet)
	if !has {
		return
	}
	excused := n.excused
	for _, in := range n.ledger.injections() { // injections that could not be healed
		excused = slices.Concat(excused, in.mayEnd, in.endings)
	}
	for _, e := range witness.Endings() {
		line, crashed := endingLine(e)
		if crashed || !slices.Contains(excused, e.Node) {
			n.Log.Warn("nothing excuses that a node ended", "node", e.Node, "how", e.How, "line", line)
			n.ended = append(n.ended, Ended{Node: e.Node, At: e.Time, How: e.How, Line: line})
		}
	}
}

// endingLine returns the line of a log that best explains why its node ended, and whether the node
// crashed.
func endingLine(e nodes.Ending) (line string, crashed bool) {
	lines := strings.Split(strings.TrimSpace(e.Tail), "\n")
	if i := slices.IndexFunc(lines, isCrashLine); i >= 0 {
		return lines[i], true
	}
	return lines[len(lines)-1], !slices.Contains(orderly, e.How)
}

// orderly lists the exit states that are not crashes: the node reported an error, left, or was
// killed at a failpoint. A panic has exit status 2.
var orderly = []string{"exit status 0", "exit status 1", "signal: killed"}

// isCrashLine reports whether the line is from a panic or a fatal error of the Go runtime.
func isCrashLine(line string) bool {
	return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") || strings.Contains(line, "SIGSEGV")
}
