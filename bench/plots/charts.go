package main

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// The size of an image.
const (
	width  = 16 * vg.Centimeter
	height = 9 * vg.Centimeter
	room   = 1.3  // times the largest value, for the legend
	margin = 1.06 // times the largest x, for its label
)

// labelled labels the ticks of another Ticker with their values in full, as 1,000,000.
type labelled struct{ plot.Ticker }

func (l labelled) Ticks(low, high float64) []plot.Tick {
	ticks := l.Ticker.Ticks(low, high)
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = message.NewPrinter(language.English).Sprint(number.Decimal(ticks[i].Value))
		}
	}
	return ticks
}

// chart is a plot of columns of all tables of a file that have them.
type chart struct {
	name, title string
	file        string
	x, xLabel   string // column and what to call it
	y           string
	lines       []line
	only        map[string]string // cells that a row must have, by column
	log         bool              // x is logarithmic
}

// line is one column.
type line struct{ column, label string }

// draw returns the image.
func (c *chart) draw() ([]byte, error) {
	tables, err := read(filepath.Join(results, c.file))
	if err != nil {
		return nil, err
	}
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.title, c.xLabel, c.y
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	p.X.Tick.Marker, p.Y.Tick.Marker = labelled{p.X.Tick.Marker}, labelled{p.Y.Tick.Marker}
	if c.log {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, labelled{plot.LogTicks{}}
	}
	for i, l := range c.lines {
		points, err := c.points(tables, l)
		if err != nil {
			return nil, err
		}
		drawn, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, err
		}
		drawn.Color, drawn.Width = plotutil.Color(i), 0.75*vg.Millimeter
		dots.Color, dots.Shape = plotutil.Color(i), plotutil.Shape(i)
		p.Add(drawn, dots)
		p.Legend.Add(l.label, drawn, dots)
		for _, at := range points {
			p.X.Max, p.Y.Max = max(p.X.Max, margin*at.X), max(p.Y.Max, room*at.Y)
		}
	}
	p.Y.Min = 0
	w, err := p.WriterTo(width, height, "svg")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	_, err = w.WriteTo(&b)
	return b.Bytes(), err
}

// points returns the points of a line in the order of x.
func (c *chart) points(tables []table, l line) (plotter.XYs, error) {
	var points plotter.XYs
	for _, t := range tables {
		x, y := t.column(c.x), t.column(l.column)
		if x < 0 || y < 0 {
			continue
		}
		for _, row := range t.rows {
			if !c.shows(&t, row) || row[y] == "" {
				continue
			}
			at, err := numberOf(row[x])
			if err != nil {
				return nil, err
			}
			v, err := numberOf(row[y])
			if err != nil {
				return nil, err
			}
			points = append(points, plotter.XY{X: at, Y: v})
		}
	}
	if len(points) < 2 {
		return nil, fmt.Errorf("%d rows have %q and %q", len(points), c.x, l.column)
	}
	slices.SortFunc(points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
	return points, nil
}

// shows reports whether a row has the cells that the chart asks for.
func (c *chart) shows(t *table, row []string) bool {
	for column, want := range c.only {
		if i := t.column(column); i < 0 || row[i] != want {
			return false
		}
	}
	return true
}
