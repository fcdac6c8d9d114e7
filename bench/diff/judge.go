package main

import (
	"fmt"
	"math"
	"strings"

	"golang.org/x/perf/benchmath"
)

// samples are the values of the figures of a suite, of both builds.
type samples struct {
	order  []key
	values map[key]*[builds][]float64
}

// add adds what a build measured.
func (s *samples) add(which int, observed []observation) {
	if s.values == nil {
		s.values = map[key]*[builds][]float64{}
	}
	for _, o := range observed {
		if s.values[o.key] == nil {
			s.values[o.key] = &[builds][]float64{}
			s.order = append(s.order, o.key)
		}
		v := s.values[o.key]
		v[which] = append(v[which], o.value)
	}
}

// figure is a compared figure.
type figure struct {
	key
	median [builds]float64
	count  [builds]int
	// change is that of the median, for the worse if it is positive: of a rate, how much of it is
	// lost, and of a cost, how much it grew.
	change      float64
	p           float64
	significant bool
	refuted     bool // it seemed worse, and was not when it was measured again
}

// judge compares the samples of both builds, by a test that assumes nothing about their
// distribution.
func judge(s samples, alpha float64) (figures []figure) {
	for _, k := range s.order {
		v := s.values[k]
		f := figure{key: k, p: 1}
		var both [builds]*benchmath.Sample
		for which := range both {
			f.count[which] = len(v[which])
			if len(v[which]) > 0 {
				both[which] = benchmath.NewSample(v[which], &benchmath.Thresholds{CompareAlpha: alpha})
				f.median[which] = benchmath.AssumeNothing.Summary(both[which], 0.95).Center
			}
		}
		if f.both() {
			f.change = worsening(k.unit, f.median[base], f.median[changed])
			f.p = benchmath.AssumeNothing.Compare(both[base], both[changed]).P
			f.significant = f.p < alpha
		}
		figures = append(figures, f)
	}
	return figures
}

// both reports whether both builds have the figure.
func (f *figure) both() bool { return f.count[base] > 0 && f.count[changed] > 0 }

// worse reports whether the figure is worse than the threshold allows.
func (f figure) worse(threshold float64) bool {
	return f.significant && !f.refuted && f.change > threshold
}

// worsening is the part by which a figure became worse. A cost that was nothing and is something
// became infinitely worse.
func worsening(unit string, before, after float64) float64 {
	grown := after - before
	if isRate(unit) {
		grown = -grown
	}
	switch {
	case grown == 0:
		return 0
	case before == 0:
		return math.Copysign(math.Inf(1), grown)
	}
	return grown / before
}

// isRate reports whether more is better.
func isRate(unit string) bool { return strings.HasSuffix(unit, "/s") }

// confirm marks the figures that seemed worse, and are not when measured again.
func confirm(doubted, again []figure, threshold float64) {
	confirmed := map[key]bool{}
	for _, f := range again {
		confirmed[f.key] = f.worse(threshold)
	}
	for i := range doubted {
		f := &doubted[i]
		f.refuted = f.worse(threshold) && !confirmed[f.key]
	}
}

// verdictOf returns an error that names what is worse, or nil.
func verdictOf(figures []figure, threshold float64) error {
	var worse []string
	for _, f := range figures {
		if f.worse(threshold) {
			worse = append(worse, fmt.Sprintf("%s, %s: %s", f.name, f.unit, f.percent()))
		}
	}
	if worse == nil {
		return nil
	}
	return fmt.Errorf("worse by more than %.0f %%:\n%s", 100*threshold, strings.Join(worse, "\n"))
}
