package main

import (
	"bytes"
	"embed"
	"fmt"
	"slices"

	"quorate/chaos/plot"
)

//go:embed page.tmpl
var pageFiles embed.FS

// pageView is the data of the page.
type pageView struct {
	Title, About, Base string
	Groups             []group
	Columns            []column
	Rows               []row
}

// group is the cards of one number of nodes.
type group struct {
	Title string
	Cards []card
}

// card shows a row.
type card struct {
	Work  string
	Badge *plot.Badge // nil if nothing can be compared
	Bars  []bars
}

// bars compares one figure of all systems.
type bars struct {
	Name string
	Bars plot.Bars
}

// htmlPage returns the results as one page that fetches nothing.
func htmlPage(r *results) ([]byte, error) {
	page, err := plot.Templates().ParseFS(pageFiles, "page.tmpl")
	if err != nil {
		return nil, err
	}
	v := &pageView{Title: "Quorate beside kube-apiserver and etcd", About: r.About.sentences(), Base: r.About.Base, Columns: r.About.columns(), Rows: r.Rows}
	slices.Reverse(v.Columns) // the new build first
	for i := range r.Rows {
		title := fmt.Sprintf("Nodes: %d", r.Rows[i].Nodes)
		if n := len(v.Groups); n == 0 || v.Groups[n-1].Title != title {
			v.Groups = append(v.Groups, group{Title: title})
		}
		last := &v.Groups[len(v.Groups)-1]
		last.Cards = append(last.Cards, cardOf(&r.Rows[i], v.Columns))
	}
	var text bytes.Buffer
	if err := page.ExecuteTemplate(&text, "page", v); err != nil {
		return nil, fmt.Errorf("write the page: %w", err)
	}
	return text.Bytes(), nil
}

func cardOf(r *row, columns []column) card {
	c := card{Work: r.Work}
	for i := range r.Figures {
		f := &r.Figures[i]
		if i == 0 && f.Ratio > 0 {
			c.Badge = &plot.Badge{Tone: plot.Good, Text: fmt.Sprintf("%.1f times", f.Ratio)}
			if f.Ratio < 1 {
				c.Badge.Tone = plot.Bad
			}
		}
		b := bars{Name: f.Name, Bars: plot.Bars{Title: r.Work + ": " + f.Name}}
		for _, column := range columns {
			if one := f.Of(column.System); len(one.Samples) > 0 {
				text := f.value(one.Median)
				b.Bars.Bars = append(b.Bars.Bars, plot.Value{Name: column.bar, Text: text, Value: one.Median, Tone: column.tone})
			}
		}
		c.Bars = append(c.Bars, b)
	}
	for _, failed := range r.Errors {
		if failed != "" {
			c.Badge = &plot.Badge{Tone: plot.Bad, Text: "errors: " + failed}
		}
	}
	return c
}

// Spread formats the lowest and the highest sample.
func (s summary) Spread() string {
	if len(s.Samples) == 0 {
		return ""
	}
	return number(s.Low) + " to " + number(s.High)
}

// Middle formats the median; "" if there is none.
func (s summary) Middle() string {
	if len(s.Samples) == 0 {
		return ""
	}
	return number(s.Median)
}
