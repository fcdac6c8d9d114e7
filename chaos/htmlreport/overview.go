package htmlreport

import (
	"fmt"
	"math"
	"time"

	"quorate/chaos"
	"quorate/chaos/check"
	"quorate/chaos/plot"
)

// maxBins bounds the intervals of the overview.
const maxBins = 300

// overview shows the whole run: the phases with their outcomes, what was served, and outages of
// writes.
func overview(r *chaos.Report) *plot.Timeline {
	length := time.Duration(r.Seconds * float64(time.Second))
	sum := check.Series{Interval: max(check.SeriesInterval, (length/maxBins).Truncate(time.Second)+time.Second)}
	if length < maxBins*check.SeriesInterval {
		sum.Interval = check.SeriesInterval
	}
	var refused plot.Lane
	lanes := []plot.Lane{{Name: "phases"}}
	for i, p := range r.Phases {
		from := p.Began.Sub(r.Began)
		to := from + time.Duration(p.Seconds*float64(time.Second))
		lanes[0].Spans = append(lanes[0].Spans, plot.Span{
			From: from, To: max(from, to-length/500), Tone: badge(p.Outcome()).Tone,
			Detail: fmt.Sprintf("phase %d, %s: %s", i+1, p.Phase, p.Outcome()),
		})
		add(&sum, p.Verdict.Series, from)
		for _, o := range p.Verdict.Outages {
			if o.Service == check.Writes {
				refused.Spans = append(refused.Spans, plot.Span{
					From: from + o.From, To: from + o.To, Tone: plot.Bad, Detail: "no write served for " + short(o.Length()),
				})
			}
		}
	}
	if len(refused.Spans) > 0 {
		refused.Name = "no writes"
		lanes = append(lanes, refused)
	}
	whole := plot.Panel{Title: "the whole run", Lanes: lanes}
	return &plot.Timeline{
		Title: "Phases, throughput, latency and outages of the whole run", Length: length,
		Panels: []plot.Panel{whole, throughput(sum, true), latency(sum, true)},
	}
}

// add adds the series of a phase, which begins at from, to the sum. A percentile of the sum is the
// greatest of its parts.
func add(sum *check.Series, s check.Series, from time.Duration) {
	for i, b := range s.Bins {
		at := int(math.Max(0, (from+time.Duration(i)*s.Interval).Seconds()) / sum.Interval.Seconds())
		for len(sum.Bins) <= at {
			sum.Bins = append(sum.Bins, check.Bin{})
		}
		to := &sum.Bins[at]
		to.Writes += b.Writes
		to.Reads += b.Reads
		to.Failed += b.Failed
		to.WriteP50, to.WriteP99 = max(to.WriteP50, b.WriteP50), max(to.WriteP99, b.WriteP99)
		to.ReadP50, to.ReadP99 = max(to.ReadP50, b.ReadP50), max(to.ReadP99, b.ReadP99)
	}
}
