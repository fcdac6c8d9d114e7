package plot

import (
	"math"
	"time"
)

// Timeline is a number of panels above each other, over one axis of time.
type Timeline struct {
	Title  string // what the plot shows, for those who cannot see it
	Length time.Duration
	Panels []Panel
}

// Panel shows lines, or lanes of spans.
type Panel struct {
	Title string
	Lines []Line
	Log   bool                 // of lines: the axis of values is logarithmic
	Value func(float64) string // of lines: formats a value, with its unit
	Lanes []Lane
}

// Line is a series of values at regular intervals, the first of which begins at 0.
type Line struct {
	Name     string
	Tone     Tone
	Interval time.Duration
	Values   []float64 // NaN where there is none
}

// Lane is a row of spans.
type Lane struct {
	Name  string
	Spans []Span
}

// Span is something that lasted.
type Span struct {
	From, To time.Duration
	Tone     Tone
	Label    string // beside the span
	Detail   string // shown while the pointer rests on the span
}

// The geometry of a timeline, in units of the drawing.
const (
	width       = 1000.0
	left        = 250.0 // where the axis of time begins
	right       = 16.0
	panelTop    = 26.0 // of a panel, above its plot
	linesHeight = 110.0
	laneHeight  = 17.0
	panelGap    = 14.0
	axisHeight  = 22.0
	minSpan     = 2.0 // the width of a span that is too short to see
	// letter is about the width of a letter of a label.
	letter = 6.2
)

// Drawing lays out the timeline.
func (t *Timeline) Drawing() *Drawing {
	d := &Drawing{Title: t.Title, Width: width, Left: left, Right: width - right}
	d.scale = scale{from: 0, to: max(t.Length.Seconds(), 1), low: left, high: width - right}
	y := 0.0
	for i := range t.Panels {
		p := d.panel(&t.Panels[i], y)
		d.Panels = append(d.Panels, p)
		y = float64(p.Bottom) + panelGap
	}
	d.Bottom = number(y - panelGap)
	d.Height = d.Bottom + axisHeight
	for _, s := range timeTicks(t.Length) {
		d.Ticks = append(d.Ticks, Tick{At: d.scale.at(s.Seconds()), Label: clock(s)})
	}
	return d
}

// Drawing is a timeline that has been laid out.
type Drawing struct {
	Title                              string
	Width, Height, Left, Right, Bottom number
	Panels                             []DrawnPanel
	Ticks                              []Tick // of time

	scale scale // of time
}

// DrawnPanel is a panel that has been laid out.
type DrawnPanel struct {
	Title               string
	TitleY, Top, Bottom number
	Legend              []Key
	Ticks               []Tick // of values
	Curves              []Curve
	Hovers              []Hover
	Rows                []Row
}

// Height returns the height of the plot.
func (p DrawnPanel) Height() number { return p.Bottom - p.Top }

// Key is an entry of a legend.
type Key struct {
	Name      string
	Tone      Tone
	X, To, TX number // the ends of the sample, and where the text begins
}

// Tick is a mark on an axis.
type Tick struct {
	At    number
	Label string
}

// Curve is a drawn line.
type Curve struct {
	Tone Tone
	Path string
}

// Hover is a part of a panel that shows a text while the pointer rests on it.
type Hover struct {
	X, Width number
	Text     string
}

// Row is a drawn lane.
type Row struct {
	Name   string
	TextY  number
	Y      number
	Height number
	Bars   []Bar
}

// Bar is a drawn span.
type Bar struct {
	X, Width number
	Tone     Tone
	Label    string
	LabelX   number
	Anchor   string
	Detail   string
}

func (d *Drawing) panel(p *Panel, y float64) DrawnPanel {
	drawn := DrawnPanel{Title: p.Title, TitleY: number(y + panelTop/2), Top: number(y + panelTop)}
	if p.Lines != nil {
		drawn.Bottom = drawn.Top + linesHeight
		d.lines(p, &drawn)
		return drawn
	}
	drawn.Bottom = drawn.Top + number(laneHeight*float64(len(p.Lanes)))
	for i, lane := range p.Lanes {
		top := float64(drawn.Top) + laneHeight*float64(i)
		row := Row{Name: lane.Name, Y: number(top + 3), Height: laneHeight - 6, TextY: number(top + laneHeight/2)}
		for _, s := range lane.Spans {
			row.Bars = append(row.Bars, d.bar(s))
		}
		drawn.Rows = append(drawn.Rows, row)
	}
	return drawn
}

// bar places a span, and its label where there is space: behind it, else before it.
func (d *Drawing) bar(s Span) Bar {
	from, to := d.scale.at(s.From.Seconds()), d.scale.at(s.To.Seconds())
	b := Bar{X: from, Width: max(to-from, minSpan), Tone: s.Tone, Label: s.Label, Detail: s.Detail, Anchor: "start"}
	b.LabelX = b.X + b.Width + 5
	if float64(b.LabelX)+letter*float64(len([]rune(s.Label))) > width-right {
		b.LabelX, b.Anchor = b.X-5, "end"
	}
	return b
}

// lines draws the lines of a panel with the axis of their values.
func (d *Drawing) lines(p *Panel, drawn *DrawnPanel) {
	low, high := valueRange(p)
	values := scale{from: low, to: high, low: float64(drawn.Bottom), high: float64(drawn.Top), log: p.Log}
	for _, v := range valueTicks(low, high, p.Log) {
		drawn.Ticks = append(drawn.Ticks, Tick{At: values.at(v), Label: p.Value(v)})
	}
	x := width - right
	for _, line := range p.Lines {
		x -= letter*float64(len([]rune(line.Name))) + 34
	}
	for _, line := range p.Lines {
		drawn.Curves = append(drawn.Curves, Curve{line.Tone, d.path(line, values)})
		drawn.Legend = append(drawn.Legend, Key{line.Name, line.Tone, number(x), number(x + 15), number(x + 21)})
		x += letter*float64(len([]rune(line.Name))) + 34
	}
	drawn.Hovers = d.hovers(p)
}

// path returns the data of an SVG path through the middles of the intervals, with a gap where there
// is no value.
func (d *Drawing) path(line Line, values scale) string {
	var path []byte
	move := byte('M')
	for i, v := range line.Values {
		if math.IsNaN(v) {
			move = 'M'
			continue
		}
		at := d.middle(line, i)
		path = append(path, move)
		path = append(path, at.String()...)
		path = append(path, ' ')
		path = append(path, values.at(v).String()...)
		if move == 'M' { // a value between two gaps is a dot
			path = append(path, "h.1"...)
		}
		move = 'L'
	}
	return string(path)
}

func (d *Drawing) middle(line Line, i int) number {
	return d.scale.at((float64(i) + 0.5) * line.Interval.Seconds())
}

// hovers returns a text with all values for each interval of the first line.
func (d *Drawing) hovers(p *Panel) (all []Hover) {
	first := p.Lines[0]
	for i := range first.Values {
		begin := time.Duration(i) * first.Interval
		text := clock(begin)
		for _, line := range p.Lines {
			if i < len(line.Values) && !math.IsNaN(line.Values[i]) {
				text += "  " + line.Name + " " + p.Value(line.Values[i])
			}
		}
		from, to := d.scale.at(begin.Seconds()), d.scale.at((begin + first.Interval).Seconds())
		if to > from {
			all = append(all, Hover{from, to - from, text})
		}
	}
	return all
}
