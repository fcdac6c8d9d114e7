package leadership

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	changes       prometheus.Counter
	fastFailovers prometheus.Counter
}

func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		changes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_leadership_changes_total",
			Help: "Times that this node gained or lost leadership.",
		}),
		fastFailovers: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_successions_total",
			Help: "Elections that this node began at once because the leader's process had ended.",
		}),
	}
	err := errors.Join(registerer.Register(m.changes), registerer.Register(m.fastFailovers))
	if err != nil {
		return nil, fmt.Errorf("register metrics of leadership: %w", err)
	}
	return m, nil
}
