package check

import (
	"slices"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/history"
)

// Bin counts the responses that clients received in one interval of a history, with percentiles of
// the time that each had taken. A percentile without a response is 0.
type Bin struct {
	Writes   int           `json:"writes"`   // acknowledged
	Reads    int           `json:"reads"`    // quorum and cached reads
	Failed   int           `json:"failed"`   // requests that were refused, or whose outcome is unknown
	WriteP50 time.Duration `json:"writeP50"` // of acknowledged writes
	WriteP99 time.Duration `json:"writeP99"`
	ReadP50  time.Duration `json:"readP50"`
	ReadP99  time.Duration `json:"readP99"`
}

// Series is a history by time.
type Series struct {
	Interval time.Duration `json:"interval"`
	Bins     []Bin         `json:"bins"`
}

// NewSeries returns the series of a history. A write that came too late, because another client
// had changed the object, is neither served nor failed.
func NewSeries(r *history.Record, interval time.Duration) Series {
	c := newCollector(interval)
	for i := range r.Ops {
		switch op := &r.Ops[i]; {
		case answered(op):
			c.served(op.Kind.IsWrite(), op.Invoked, op.Answered)
		case op.Outcome == client.Unknown:
			c.failed(op.Answered)
		}
	}
	for _, f := range r.Failures {
		c.failed(f.Answered)
	}
	return c.series()
}

// NewIdleSeries returns the series of the reads of an idle cluster.
func NewIdleSeries(reads []history.IdleRead, interval time.Duration) Series {
	c := newCollector(interval)
	for _, r := range reads {
		if r.Problem != "" {
			c.failed(r.Answered)
			continue
		}
		c.served(false, r.Invoked, r.Answered)
	}
	return c.series()
}

// collector sorts responses into bins.
type collector struct {
	interval time.Duration
	bins     []Bin
	writes   [][]time.Duration // by bin
	reads    [][]time.Duration
}

func newCollector(interval time.Duration) *collector { return &collector{interval: interval} }

// at returns the index of the bin of a time, which exists afterwards.
func (c *collector) at(t time.Duration) int {
	i := int(max(t, 0) / c.interval)
	for len(c.bins) <= i {
		c.bins, c.writes, c.reads = append(c.bins, Bin{}), append(c.writes, nil), append(c.reads, nil)
	}
	return i
}

func (c *collector) served(write bool, invoked, answered time.Duration) {
	i := c.at(answered)
	if write {
		c.writes[i] = append(c.writes[i], answered-invoked)
	} else {
		c.reads[i] = append(c.reads[i], answered-invoked)
	}
}

func (c *collector) failed(answered time.Duration) { c.bins[c.at(answered)].Failed++ }

func (c *collector) series() Series {
	for i := range c.bins {
		b := &c.bins[i]
		b.Writes, b.Reads = len(c.writes[i]), len(c.reads[i])
		b.WriteP50, b.WriteP99 = percentiles(c.writes[i])
		b.ReadP50, b.ReadP99 = percentiles(c.reads[i])
	}
	return Series{c.interval, c.bins}
}

// percentiles returns the 50th and the 99th percentile, and sorts its argument.
func percentiles(took []time.Duration) (p50, p99 time.Duration) {
	if len(took) == 0 {
		return 0, 0
	}
	slices.Sort(took)
	return took[(len(took)-1)/2], took[(len(took)-1)*99/100]
}
