package demo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"quorate/apiserver/admin"
)

// maxEvents bounds the events that the picture shows.
const maxEvents = 10

// event announces something: in the picture, or as a line without a terminal.
func (d *demo) event(format string, args ...any) {
	line := time.Now().Format(time.TimeOnly) + "  " + fmt.Sprintf(format, args...)
	if d.screen == nil {
		fmt.Fprintln(d.Out, line)
		return
	}
	d.events = append(d.events, line)
	d.events = d.events[max(0, len(d.events)-maxEvents):]
}

// draw shows the state, if there is a terminal.
func (d *demo) draw() {
	if d.screen != nil {
		d.screen.show(d.picture())
	}
}

// picture returns the lines that show the state.
func (d *demo) picture() []string {
	verdict := "no node has answered yet"
	switch {
	case d.members != nil:
		verdict = admin.QuorumOf(d.members).String()
	case d.verdict != "":
		verdict = "no node answers"
	}
	lines := []string{"Quorate demo: " + verdict, "export KUBECONFIG=" + d.nodes.kubeconfig(), ""}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "KEY\tNODE\tPROCESS\tROLE\tTERM\tAPPLIED\tLAG\tVERSION\tAPI")
	for i, one := range d.nodes.all {
		process := "down"
		if one.process != nil {
			process = fmt.Sprint(one.process.Pid)
		}
		var m admin.Member
		if j := slices.IndexFunc(d.members, func(m admin.Member) bool { return m.Name == one.name }); j >= 0 {
			m = d.members[j]
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", i+1, one.name, process, cmp.Or(m.Role, unknown),
			known(m.Term), known(m.AppliedIndex), known(m.Lag), known(m.Version), "https://"+one.api)
	}
	w.Flush() // Writes to a strings.Builder succeed.
	lines = append(lines, strings.Split(strings.TrimSpace(table.String()), "\n")...)
	lines = append(lines, "", keysHelp, "")
	return append(lines, d.events...)
}

// unknown stands for a value that is not known.
const unknown = "-"

func known[T any](value *T) string {
	if value == nil {
		return unknown
	}
	return fmt.Sprint(*value)
}
