package main

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"quorate/bench/generator"
	"quorate/chaos/plot"
)

//go:embed page.tmpl
var pageFiles embed.FS

// pageView is the data of the report in HTML.
type pageView struct {
	Title   string
	Mode    string
	Machine string
	Began   string
	Peers   string // where the figures of the peer are from
	Pace    string
	Counts  []plot.Badge
	Cards   []card
	All     []generator.Measurement
}

// card shows a row.
type card struct {
	Work  string
	Badge *plot.Badge // nil without a verdict
	Bars  []bars
}

// bars compares one figure of a row with its target, the peer and the floor.
type bars struct {
	Name string
	Bars plot.Bars
}

// writePage writes the report in HTML. peers says where the figures of the peer are from.
func writePage(path string, rows []row, b *bench, pace paces, peers string) error {
	page, err := plot.Templates().ParseFS(pageFiles, "page.tmpl")
	if err != nil {
		return err
	}
	v := newPageView(rows, b, pace, peers)
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("-report: %w", err)
	}
	if err := errors.Join(page.ExecuteTemplate(file, "page", v), file.Close()); err != nil {
		return fmt.Errorf("write report %s: %w", path, err)
	}
	return nil
}

func newPageView(rows []row, b *bench, pace paces, peers string) *pageView {
	began := b.began.UTC().Format("2006-01-02 15:04 UTC")
	v := &pageView{
		Title: "Benchmark " + began, Mode: b.scale.name, Began: began, Peers: peers, Pace: pace.explain(), All: b.measured,
		Machine: fmt.Sprintf("%d cores, %s/%s, %s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version()),
	}
	counts := map[verdict]int{}
	for i := range rows {
		r := &rows[i]
		c := card{Work: r.work}
		if r.verdict != unjudged {
			c.Badge = &plot.Badge{Tone: r.verdict.tone(), Text: string(r.verdict)}
			counts[r.verdict.class()]++
		}
		for _, f := range r.figures {
			c.Bars = append(c.Bars, r.bars(f))
		}
		v.Cards = append(v.Cards, c)
	}
	for _, class := range []verdict{met, metAtPace, missed, failed} {
		if n := counts[class]; n > 0 {
			v.Counts = append(v.Counts, plot.Badge{Tone: class.tone(), Text: fmt.Sprintf("%d %s", n, class)})
		}
	}
	return v
}

// failed is the class of all verdicts that are errors.
const failed verdict = "with errors"

func (v verdict) class() verdict {
	if slices.Contains([]verdict{met, metAtPace, missed}, v) {
		return v
	}
	return failed
}

func (v verdict) tone() plot.Tone {
	switch v {
	case met:
		return plot.Good
	case metAtPace:
		return plot.Warn
	}
	return plot.Bad
}

// bars compares a figure with the same one of the peer and of the floor.
func (r *row) bars(f figure) bars {
	b := bars{Name: f.name}
	add := func(name string, value, target float64, tone plot.Tone) {
		if value > 0 {
			b.Bars.Bars = append(b.Bars.Bars, plot.Value{Name: name, Text: strings.TrimSuffix(f.text(value), f.qualifier()), Value: value, Target: target, Tone: tone})
		}
	}
	own, target := "Quorate", f.wanted
	if r.m.Label == "floor" {
		own = "floor"
	}
	if r.judged {
		b.Name += ", " + f.limit()
	} else {
		target = 0
	}
	add(own, f.measured, target, plot.First)
	add("peer", f.of(&r.peer), 0, plot.Quiet)
	if r.m.Label != "floor" {
		add("floor", f.of(&r.floor), 0, plot.Quiet)
	}
	b.Bars.Title = r.work + ": " + b.Name
	return b
}
