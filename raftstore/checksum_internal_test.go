package raftstore

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"quorate/raftstore/diskguard"

	"github.com/prometheus/client_golang/prometheus"
)

// TestAlarmWhereNobodyIsRight: emptying every node that is named must not be what an operator is told to do, where those are all.
func TestAlarmWhereNobodyIsRight(t *testing.T) {
	m, err := newMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	alarms, err := diskguard.NewAlarms(slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	s := &Store{metrics: m, alarms: alarms}
	away := errors.New("away")
	for _, c := range []struct {
		nodes []Checksum
		want  int
		empty bool
	}{
		{[]Checksum{{"n1", 1, nil}, {"n2", 2, nil}, {"n3", 0, away}}, 2, false},
		{[]Checksum{{"n1", 1, nil}, {"n2", 2, nil}, {"n3", 1, nil}}, 1, true},
		{[]Checksum{{"n1", 1, nil}, {"n2", 2, nil}, {"n3", 3, nil}}, 3, false},
	} {
		s.tellDiverged(&Comparison{Index: 7, Nodes: c.nodes})
		if len(s.Alarms()) != c.want {
			t.Errorf("%v: %d alarms, want %d", c.nodes, len(s.Alarms()), c.want)
		}
		for _, a := range s.Alarms() {
			if empty := strings.Contains(a.Message, "with an empty data directory"); empty != c.empty {
				t.Errorf("%v: of %s it is said: %s", c.nodes, a.Node, a.Message)
			}
		}
	}
}
