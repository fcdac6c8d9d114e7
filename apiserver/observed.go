package apiserver

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// observed returns a Gatherer that leaves out histograms without an observation, each of which has
// up to twenty series: on most nodes, many histograms are never used. Counters and gauges stay,
// because an increase from 0 can be seen only if the 0 was exported.
func observed(g prometheus.Gatherer) prometheus.Gatherer {
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		families, err := g.Gather() // with an error, too, it returns the metrics that it has
		return slices.DeleteFunc(families, func(f *dto.MetricFamily) bool {
			f.Metric = slices.DeleteFunc(f.Metric, func(m *dto.Metric) bool {
				h := m.GetHistogram()
				return h != nil && h.GetSampleCount() == 0 && h.GetSampleCountFloat() == 0
			})
			return len(f.Metric) == 0
		}), err
	})
}
