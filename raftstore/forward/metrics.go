package forward

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the client's metrics of forwarded writes.
type metrics struct {
	full          prometheus.Counter
	messagesFull  prometheus.Counter
	messageWrites prometheus.Histogram
}

// serverMetrics are the server's metrics of forwarded writes.
type serverMetrics struct {
	held           prometheus.Counter
	messageResults prometheus.Histogram
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func sizes(name, help string) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(1, 2, 13),
	})
}

func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		full:          counter("quorate_raftstore_forward_full_total", "Writes refused because too many, or too many bytes, were on their way to the leader."),
		messagesFull:  counter("quorate_raftstore_forward_messages_full_total", "Messages to the leader that had no place for all writes that waited."),
		messageWrites: sizes("quorate_raftstore_forward_message_writes", "Writes sent to the leader in one message."),
	}
	return m, register(registerer, m.full, m.messagesFull, m.messageWrites)
}

func newServerMetrics(registerer prometheus.Registerer) (*serverMetrics, error) {
	m := &serverMetrics{
		held:           counter("quorate_raftstore_forward_held_total", "Times that no more writes were received from a node because too many of its own were under way."),
		messageResults: sizes("quorate_raftstore_forward_message_results", "Writes of another node answered in one message."),
	}
	return m, register(registerer, m.held, m.messageResults)
}

func register(registerer prometheus.Registerer, collectors ...prometheus.Collector) error {
	for _, c := range collectors {
		if err := registerer.Register(c); err != nil {
			return fmt.Errorf("register metrics of forwarding: %w", err)
		}
	}
	return nil
}
