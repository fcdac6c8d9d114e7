package route

import (
	"fmt"
	"slices"
	"strings"
)

// Totals are the requests for objects answered since the start of the server.
type Totals struct {
	Reads  Latencies // gets and lists
	Writes Latencies // creates, updates, patches and deletions
	Errors float64   // responses with codes from 500
}

// Latencies is a histogram. Counts has the observations up to each of Bounds, in seconds.
type Latencies struct {
	Count  uint64
	Bounds []float64
	Counts []uint64
}

const (
	// noKind is the label of endpoints without a kind.
	noKind = "none"
	// reviews ends the kinds that are created and not stored.
	reviews = "Review"
)

// Totals adds up the metrics of all endpoints. It takes about half a millisecond.
func (m *Metrics) Totals() (Totals, error) {
	families, err := m.own.Gather()
	if err != nil {
		return Totals{}, fmt.Errorf("add up the requests: %w", err)
	}
	var t Totals
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			labels := make(map[string]string, len(metric.GetLabel()))
			for _, l := range metric.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if labels["kind"] == noKind || strings.HasSuffix(labels["kind"], reviews) {
				continue
			}
			if counter := metric.GetCounter(); counter != nil && labels["code"] >= "500" {
				t.Errors += counter.GetValue()
			}
			histogram, of := metric.GetHistogram(), t.of(labels["verb"])
			if histogram == nil || of == nil {
				continue
			}
			of.Count += histogram.GetSampleCount()
			for i, b := range histogram.GetBucket() {
				of.add(i, b.GetUpperBound(), b.GetCumulativeCount())
			}
		}
	}
	return t, nil
}

// of returns the histogram that counts a verb, nil for verbs that are neither reads nor writes.
func (t *Totals) of(verb string) *Latencies {
	switch verb {
	case VerbGet, VerbList:
		return &t.Reads
	case VerbCreate, VerbUpdate, VerbPatch, VerbDelete, VerbDeleteCollection:
		return &t.Writes
	}
	return nil
}

func (l *Latencies) add(i int, bound float64, count uint64) {
	if i == len(l.Bounds) {
		l.Bounds, l.Counts = append(l.Bounds, bound), append(l.Counts, 0)
	}
	l.Counts[i] += count
}

// Since returns the observations that l has and an earlier value has not.
func (l Latencies) Since(earlier Latencies) Latencies {
	d := Latencies{Count: l.Count - earlier.Count, Bounds: l.Bounds, Counts: slices.Clone(l.Counts)}
	for i := range earlier.Counts {
		d.Counts[i] -= earlier.Counts[i]
	}
	return d
}

// Quantile returns the latency in seconds that a share of the observations did not exceed,
// interpolated within a bucket as Prometheus does, and the largest bound if it is beyond that. It
// returns false if there are no observations.
func (l Latencies) Quantile(share float64) (seconds float64, ok bool) {
	if l.Count == 0 || len(l.Bounds) == 0 {
		return 0, false
	}
	rank := share * float64(l.Count)
	below, from := uint64(0), 0.0
	for i, bound := range l.Bounds {
		if float64(l.Counts[i]) >= rank {
			return from + (bound-from)*(rank-float64(below))/float64(l.Counts[i]-below), true
		}
		below, from = l.Counts[i], bound
	}
	return from, true
}
