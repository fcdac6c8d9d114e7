package diskguard

import "github.com/prometheus/client_golang/prometheus"

func newAlarmGauge(reg prometheus.Registerer) *prometheus.GaugeVec {
	raised := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "quorate_alarm",
		Help: "Nodes about which this node has raised the alarm. Only the leader raises alarms about other nodes.",
	}, []string{"alarm"})
	for _, name := range AlarmNames() {
		raised.WithLabelValues(string(name))
	}
	reg.MustRegister(raised)
	return raised
}

func newReadOnlyGauge(reg prometheus.Registerer) prometheus.Gauge {
	readOnly := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "quorate_raftstore_read_only",
		Help: "1 while this node leads and refuses writes, because too few voters have space on their disks.",
	})
	reg.MustRegister(readOnly)
	return readOnly
}

func newWaitCounter(reg prometheus.Registerer) prometheus.Counter {
	waits := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "quorate_raftstore_space_waits_total",
		Help: "Writes that waited for space on the voters' disks, deletions above all.",
	})
	reg.MustRegister(waits)
	return waits
}

func newSlowLeaderCounter(reg prometheus.Registerer) prometheus.Counter {
	transfers := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "quorate_raftstore_slow_leader_transfers_total",
		Help: "Attempts of this node to transfer leadership, because the disk of another voter was much faster.",
	})
	reg.MustRegister(transfers)
	return transfers
}

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
