package diskguard

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

func newAlarmGauge(registerer prometheus.Registerer) (*prometheus.GaugeVec, error) {
	raised := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "quorate_alarm",
		Help: "Nodes about which this node has raised the alarm. Only the leader raises alarms about other nodes.",
	}, []string{"alarm"})
	if err := registerer.Register(raised); err != nil {
		return nil, fmt.Errorf("register the metric of alarms: %w", err)
	}
	for _, name := range alarmNames() {
		raised.WithLabelValues(string(name))
	}
	return raised, nil
}

func newReadOnlyGauge(registerer prometheus.Registerer) (prometheus.Gauge, error) {
	readOnly := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "quorate_raftstore_read_only",
		Help: "1 while this node leads and refuses writes, because too few voters have space on their disks.",
	})
	if err := registerer.Register(readOnly); err != nil {
		return nil, fmt.Errorf("register the metric of refused writes: %w", err)
	}
	return readOnly, nil
}

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
