package raftstore

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
	// NoSpace: the disk of a node's data directory has less space left than the reserve.
	NoSpace AlarmName = "no-space"
	// DiskStalled: a write to a node's log has taken longer than the limit and goes on.
	DiskStalled AlarmName = "disk-stalled"
	// Diverged: a node's state is another than that of most. The leader raises it, about any node.
	Diverged AlarmName = "diverged"
)

func alarmNames() []AlarmName { return []AlarmName{NoSpace, DiskStalled, Diverged} }

// Alarm is something wrong that an operator should know of. It is raised by the node that notices, and cleared by that node when it is
// over; nobody has to acknowledge it.
type Alarm struct {
	Name    AlarmName
	Node    string // that it is about
	Message string // one line: what is wrong, and what to do
}

// Proto is the alarm as nodes tell it to each other.
func (a Alarm) Proto() *peerpb.Alarm {
	return &peerpb.Alarm{Name: string(a.Name), Node: a.Node, Message: a.Message}
}

// alarms are those that this node has raised. Each change is one line in the log.
type alarms struct {
	logger *slog.Logger
	gauge  *prometheus.GaugeVec

	mu     sync.Mutex
	raised []Alarm // guarded by mu; replaced, never changed; by name and node
}

func newAlarms(logger *slog.Logger, gauge *prometheus.GaugeVec) *alarms {
	for _, name := range alarmNames() {
		gauge.WithLabelValues(string(name))
	}
	return &alarms{logger: logger, gauge: gauge}
}

// list returns the alarms, which the caller must not change.
func (a *alarms) list() []Alarm {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.raised
}

func (a *alarms) isRaised(name AlarmName) bool {
	return slices.ContainsFunc(a.list(), func(r Alarm) bool { return r.Name == name })
}

// set makes the alarms of one name those given: nodes, with what is to be said of each.
func (a *alarms) set(name AlarmName, messages map[string]string) {
	a.mu.Lock()
	before := a.raised
	var now, begun, over []Alarm
	for _, r := range before {
		message, still := messages[r.Node]
		switch {
		case r.Name != name:
			now = append(now, r)
		case still: // what is to be done about it may be known better now
			now = append(now, Alarm{Name: name, Node: r.Node, Message: message})
		default:
			over = append(over, r)
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
	a.mu.Unlock()

	for _, r := range begun {
		a.logger.Error("alarm raised", "alarm", r.Name, "about", r.Node, "reason", r.Message)
	}
	for _, r := range over {
		a.logger.Info("alarm cleared", "alarm", r.Name, "about", r.Node)
	}
}

func (a *alarms) raise(name AlarmName, node, message string) {
	a.set(name, map[string]string{node: message})
}

func (a *alarms) clear(name AlarmName) { a.set(name, nil) }

// Alarms returns the alarms that this node has raised, by name: its own, and as leader those about others. The caller must not change
// them.
func (s *Store) Alarms() []Alarm { return s.alarms.list() }
