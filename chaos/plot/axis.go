package plot

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// number is a coordinate or length in a drawing, which a tenth of a unit is precise enough for.
type number float64

// String formats the number for an attribute of SVG.
func (n number) String() string {
	return strconv.FormatFloat(math.Round(float64(n)*10)/10, 'f', -1, 64)
}

// scale maps values to coordinates. Values outside are moved to its ends.
type scale struct {
	from, to  float64 // values
	low, high float64 // coordinates
	log       bool
}

func (s scale) at(v float64) number {
	v = min(max(v, s.from), s.to)
	part := (v - s.from) / (s.to - s.from)
	if s.log {
		part = math.Log(v/s.from) / math.Log(s.to/s.from)
	}
	return number(s.low + part*(s.high-s.low))
}

// valueRange returns round bounds of the values of a panel, from 0 or, for a logarithmic axis, from
// a power of ten.
func valueRange(p *Panel) (low, high float64) {
	low, high = math.Inf(1), 0
	for _, line := range p.Lines {
		for _, v := range line.Values {
			if !math.IsNaN(v) && (v > 0 || !p.Log) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if !p.Log {
		step := valueStep(high)
		return 0, max(step*math.Ceil(high/step), step)
	}
	if high == 0 { // there is no value
		return 1, 10
	}
	low = math.Pow(10, math.Floor(math.Log10(low)))
	return low, max(math.Pow(10, math.Ceil(math.Log10(high))), low*10)
}

// valueStep returns 1, 2 or 5 times a power of ten, so that three or four steps reach the value.
func valueStep(high float64) float64 {
	if high <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(high/4)))
	for _, factor := range []float64{1, 2, 5} {
		if high/(unit*factor) <= 4 {
			return unit * factor
		}
	}
	return 10 * unit
}

func valueTicks(low, high float64, log bool) (ticks []float64) {
	if log {
		for v := low; v <= high*1.001; v *= 10 {
			ticks = append(ticks, v)
		}
		return ticks
	}
	step := valueStep(high)
	for i := 0; float64(i)*step <= high*1.001; i++ {
		ticks = append(ticks, float64(i)*step)
	}
	return ticks
}

// maxTimeTicks bounds the marks on the axis of time.
const maxTimeTicks = 10

// timeTicks returns the round times at which the axis of time is marked.
func timeTicks(length time.Duration) (ticks []time.Duration) {
	step := time.Second
	for _, next := range []time.Duration{2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400} {
		if length/step < maxTimeTicks {
			break
		}
		step = next * time.Second
	}
	for at := time.Duration(0); at <= length; at += step {
		ticks = append(ticks, at)
	}
	return ticks
}

// clock formats a time since the beginning: minutes and seconds, or hours, minutes and seconds.
func clock(t time.Duration) string {
	s := int(t.Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
