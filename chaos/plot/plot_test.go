package plot_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"quorate/chaos/plot"
)

func render(t *testing.T, name string, data any) string {
	t.Helper()
	var out strings.Builder
	if err := plot.Templates().ExecuteTemplate(&out, name, data); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// elements returns the attributes of all elements of that name, of well-formed XML.
func elements(t *testing.T, text, name string) (all []map[string]string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if e, is := token.(xml.StartElement); is && e.Name.Local == name {
			attributes := map[string]string{}
			for _, a := range e.Attr {
				attributes[a.Name.Local] = a.Value
			}
			all = append(all, attributes)
		}
	}
}

func timeline(values ...float64) *plot.Timeline {
	return &plot.Timeline{
		Title: "a <plot>", Length: 10 * time.Second,
		Panels: []plot.Panel{
			{Title: "faults", Lanes: []plot.Lane{{Name: "kill", Spans: []plot.Span{
				{From: 0, To: 5 * time.Second, Tone: plot.Bad, Label: "n1", Detail: "n1 & n2"},
				{From: 9 * time.Second, To: 10 * time.Second, Tone: plot.Quiet, Label: "n2, n3"},
			}}}},
			{Title: "rate", Value: func(v float64) string { return fmt.Sprint(v) }, Lines: []plot.Line{
				{Name: "writes", Tone: plot.First, Interval: time.Second, Values: values},
			}},
		},
	}
}

// TestTimeline checks that times and values are where the axes say, and that all text is escaped.
func TestTimeline(t *testing.T) {
	t.Parallel()
	text := render(t, "timeline", timeline(0, 40, math.NaN(), 20))
	rects := elements(t, text, "rect")
	// The axis of time goes from 250 to 984.
	if got := rects[0]; got["x"] != "250" || got["width"] != "367" || got["class"] != "bad" {
		t.Errorf("5 of 10 seconds: %v", got)
	}
	paths := elements(t, text, "path")
	if want := "M286.7 "; !strings.HasPrefix(paths[0]["d"], want) {
		t.Errorf("the path %s does not begin in the middle of the first second, %s", paths[0]["d"], want)
	}
	if got := strings.Count(paths[0]["d"], "M"); got != 2 {
		t.Errorf("the path %s has %d parts, want 2: there is no value in the third second", paths[0]["d"], got)
	}
	for _, want := range []string{"a &lt;plot&gt;", "<title>n1 &amp; n2</title>", `text-anchor="end">n2, n3<`, "0:01  writes 40</title>"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
}

// TestTimelineOfNothing: a run that ended at once has a drawing, too.
func TestTimelineOfNothing(t *testing.T) {
	t.Parallel()
	empty := timeline()
	empty.Length = 0
	empty.Panels[1].Log = true
	for _, tl := range []*plot.Timeline{empty, timeline(0), timeline(math.NaN())} {
		text := render(t, "timeline", tl)
		elements(t, text, "svg")
		if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("no coordinate may be NaN or infinite:\n%s", text)
		}
	}
}

// TestLogarithmicAxis: equal factors have equal distances, between powers of ten.
func TestLogarithmicAxis(t *testing.T) {
	t.Parallel()
	tl := timeline(2, 200)
	tl.Panels = tl.Panels[1:]
	tl.Panels[0].Log = true
	var ticks []string
	for _, e := range elements(t, render(t, "timeline", tl), "line") {
		if e["y1"] == e["y2"] && e["class"] == "rule" {
			ticks = append(ticks, e["y1"])
		}
	}
	if got, want := fmt.Sprint(ticks), "[136 99.3 62.7 26]"; got != want { // 1, 10, 100, 1000
		t.Errorf("ticks at %s, want %s", got, want)
	}
}

// TestBars: the longest of values and targets takes the whole width, and the others their part.
func TestBars(t *testing.T) {
	t.Parallel()
	text := render(t, "bars", plot.Bars{Title: "rates", Bars: []plot.Value{
		{Name: "Quorate", Text: "50/s", Value: 50, Target: 100, Tone: plot.First},
		{Name: "peer", Text: "25/s", Value: 25, Tone: plot.Quiet},
	}})
	rects := elements(t, text, "rect")
	if rects[0]["width"] != "137" || rects[1]["width"] != "68.5" { // of 274
		t.Errorf("bars are %s and %s wide", rects[0]["width"], rects[1]["width"])
	}
	if lines := elements(t, text, "line"); len(lines) != 1 || lines[0]["x1"] != "336" {
		t.Errorf("the mark of the target: %v", lines)
	}
}

// TestPageIsSelfContained: nothing of a page is fetched, and it follows the reader's preference.
func TestPageIsSelfContained(t *testing.T) {
	t.Parallel()
	text := render(t, "head", "a report") + render(t, "foot", nil)
	for _, not := range []string{"://", "url(", "@import", "src=", "href=", "<script"} {
		if strings.Contains(text, not) {
			t.Errorf("the page has %q", not)
		}
	}
	if !strings.Contains(text, "color-scheme: light dark") {
		t.Error("the page has no colors for dark")
	}
}
