// Package plot draws timelines and bars as SVG, for reports that are one HTML file each: styles are
// inline, nothing is fetched from elsewhere, and without scripts. The colors follow the reader's
// preference for light or dark.
//
// A report is an html/template that begins as Templates, with these templates:
//
//	{{template "head" TITLE}}       the beginning of the page, to the opening tag of main
//	{{template "foot"}}             its end
//	{{template "timeline" T}}       a *Timeline
//	{{template "bars" B}}           a Bars
//	{{template "badge" B}}          a Badge
//
// The console shows reports, too: report.css is copied into it, and what a report contains, such as a
// new element or class, must be one that the console's report.js knows.
package plot

//go:generate cp report.css ../../apiserver/console/files/report.css

import (
	"embed"
	"html/template"
)

//go:embed plot.tmpl report.css
var files embed.FS

// Templates returns new templates, to which a report adds its own.
func Templates() *template.Template {
	return template.Must(template.New("plot").ParseFS(files, "plot.tmpl", "report.css"))
}

// Tone is what a color says.
type Tone string

// The tones. First and Second tell two series apart, and say nothing else.
const (
	First  Tone = "first"
	Second Tone = "second"
	Quiet  Tone = "quiet"
	Good   Tone = "good"
	Warn   Tone = "warn"
	Bad    Tone = "bad"
)

// Mark returns a sign that says the same as the color of a tone, for readers who do not see it.
func (t Tone) Mark() string {
	switch t {
	case Good:
		return "✓"
	case Warn:
		return "?"
	case Bad:
		return "✗"
	}
	return ""
}

// Badge is a short verdict.
type Badge struct {
	Tone Tone
	Text string
}
