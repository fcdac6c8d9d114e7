package checksum

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore/diskguard"
)

// If the alarm is about all nodes that have a checksum, its message says that no state is that of
// most, since the advice about the alarm is then to empty no data directory.
func TestAlarmWithoutAgreement(t *testing.T) {
	m := newMetrics(prometheus.NewRegistry())
	alarms := diskguard.NewAlarms(slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	c := &Comparer{cfg: Config{Alarms: alarms}, metrics: m}
	away := errors.New("away")
	for _, tc := range []struct {
		nodes []Checksum
		want  int
		agree bool
	}{
		{[]Checksum{{"n1", 1, nil}, {"n2", 2, nil}, {"n3", 0, away}}, 2, false},
		{[]Checksum{{"n1", 1, nil}, {"n2", 2, nil}, {"n3", 1, nil}}, 1, true},
		{[]Checksum{{"n1", 1, nil}, {"n2", 2, nil}, {"n3", 3, nil}}, 3, false},
	} {
		c.alarm(&Comparison{Index: 7, Nodes: tc.nodes})
		if len(alarms.List()) != tc.want {
			t.Errorf("%v: %d alarms, want %d", tc.nodes, len(alarms.List()), tc.want)
		}
		for _, a := range alarms.List() {
			if agree := !strings.Contains(a.Message, "none is that of most"); agree != tc.agree {
				t.Errorf("%v: of %s it is said: %s", tc.nodes, a.Node, a.Message)
			}
		}
	}
}

// Whoever repairs a node should not have to wait for the alarm as long as for the divergence.
func TestNextComparisonIsSoonerAfterADivergence(t *testing.T) {
	t.Parallel()
	c := &Comparer{cfg: Config{Interval: DefaultInterval}}
	if c.pause(0) != 5*time.Minute || c.pause(1) != 30*time.Second {
		t.Errorf("the next comparison is due after %s, and after a divergence %s", c.pause(0), c.pause(1))
	}
}

func TestDiverged(t *testing.T) {
	t.Parallel()
	lost := errors.New("no response")
	for _, c := range []struct {
		name  string
		nodes []Checksum
		want  []string
	}{
		{"alone", []Checksum{{Name: "a", Sum: 1}}, nil},
		{"equal", []Checksum{{Name: "a", Sum: 1}, {Name: "b", Sum: 1}}, nil},
		{"one of three", []Checksum{{Name: "a", Sum: 1}, {Name: "b", Sum: 2}, {Name: "c", Sum: 1}}, []string{"b"}},
		{"one of two, unknown which", []Checksum{{Name: "a", Sum: 1}, {Name: "b", Sum: 2}, {Name: "c", Err: lost}}, []string{"a", "b"}},
		{"nodes without a checksum are not counted", []Checksum{{Name: "a", Sum: 1}, {Name: "b", Err: lost}, {Name: "c", Err: lost}}, nil},
		{"all differ", []Checksum{{Name: "a", Sum: 1}, {Name: "b", Sum: 2}, {Name: "c", Sum: 3}}, []string{"a", "b", "c"}},
	} {
		if got := (&Comparison{Nodes: c.nodes}).Diverged(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
