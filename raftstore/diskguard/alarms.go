package diskguard

import (
	"cmp"
	"log/slog"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/proto/peerpb"
)

// AlarmName is a kind of alarm.
type AlarmName string

// The alarms.
const (
	// NoSpace reports that the disk of a node's data directory has less free space than the
	// reserve.
	NoSpace AlarmName = "no-space"
	// DiskStalled reports that a running write to a node's log exceeds the time limit.
	DiskStalled AlarmName = "disk-stalled"
	// Diverged reports that a node's state differs from that of most nodes. Only the leader raises
	// it, about any node.
	Diverged AlarmName = "diverged"
)

// Alarm is a problem that an operator should know of. The node that detects the problem raises the
// alarm, and clears it when the problem is gone. No acknowledgment is needed.
type Alarm struct {
	Name    AlarmName
	Node    string // the node with the problem
	Message string // one line: the problem; its Name has what to do
}

// Proto returns the alarm as a message between nodes.
func (a Alarm) Proto() *peerpb.Alarm {
	return &peerpb.Alarm{Name: string(a.Name), Node: a.Node, Message: a.Message}
}

// Alarms holds the alarms that this node has raised, and logs each change as one line. All methods
// are safe for concurrent use.
type Alarms struct {
	logger *slog.Logger
	gauge  *prometheus.GaugeVec

	mu     sync.Mutex
	raised []Alarm // guarded by mu; replaced, never changed; sorted by name and node
}

// NewAlarms returns an empty set of alarms.
func NewAlarms(logger *slog.Logger, reg prometheus.Registerer) *Alarms {
	return &Alarms{logger: logger, gauge: newAlarmGauge(reg)}
}

// List returns the alarms, which the caller must not change.
func (a *Alarms) List() []Alarm {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.raised
}

// IsRaised reports whether there is an alarm of this name, about any node.
func (a *Alarms) IsRaised(name AlarmName) bool {
	return slices.ContainsFunc(a.List(), func(r Alarm) bool { return r.Name == name })
}

// Set replaces the alarms of one name. messages has an entry for each node with the problem.
func (a *Alarms) Set(name AlarmName, messages map[string]string) {
	begun, ended := a.replace(name, messages)
	for _, r := range begun {
		a.logger.Error("alarm raised", "alarm", r.Name, "about", r.Node, "reason", r.Message, "advice", r.Name.Advice())
	}
	for _, r := range ended {
		a.logger.Info("alarm cleared", "alarm", r.Name, "about", r.Node)
	}
}

func (a *Alarms) replace(name AlarmName, messages map[string]string) (begun, ended []Alarm) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var now []Alarm
	for _, r := range a.raised {
		message, still := messages[r.Node]
		switch {
		case r.Name != name:
			now = append(now, r)
		case still: // still raised, with the latest message
			now = append(now, Alarm{Name: name, Node: r.Node, Message: message})
		default:
			ended = append(ended, r)
		}
	}
	for node, message := range messages {
		if !slices.ContainsFunc(now, func(r Alarm) bool { return r.Name == name && r.Node == node }) {
			begun = append(begun, Alarm{Name: name, Node: node, Message: message})
		}
	}
	now = append(now, begun...)
	slices.SortFunc(now, func(x, y Alarm) int { return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Node, y.Node)) })
	a.raised = now
	a.gauge.WithLabelValues(string(name)).Set(float64(len(messages)))
	return begun, ended
}

// Raise raises an alarm about one node, and clears alarms of the same name about others.
func (a *Alarms) Raise(name AlarmName, node, message string) {
	a.Set(name, map[string]string{node: message})
}

// Clear clears all alarms of a name.
func (a *Alarms) Clear(name AlarmName) { a.Set(name, nil) }
