package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"quorate/chaos"
	"quorate/chaos/htmlreport"
)

// maxDrawingBytes bounds one drawing in a page.
const maxDrawingBytes = 16 << 20

// page collects what the report of a run in HTML shows, and writes it.
type page struct {
	path     string
	drawings string // directory of porcupine's drawings
	report   htmlreport.Report
	phases   int     // that were judged
	problems []error // with reading drawings
	remove   func() error
}

// newPage returns a page for --report, or nil without that flag. Drawings go to a temporary
// directory unless --drawings names one.
func (o *options) newPage(args []string) (*page, error) {
	if o.report == "" {
		return nil, nil
	}
	p := &page{path: o.report, drawings: o.drawings, remove: func() error { return nil }}
	p.report = htmlreport.Report{Command: "quorate-chaos " + strings.Join(args, " "), Drawings: map[int][]htmlreport.Drawing{}}
	if p.drawings == "" {
		dir, err := os.MkdirTemp("", "quorate-drawings-")
		if err != nil {
			return nil, fmt.Errorf("--report: %w", err)
		}
		p.drawings, p.remove = dir, func() error { return os.RemoveAll(dir) }
	}
	return p, nil
}

// judged reads the drawings of a phase before the next phase overwrites them.
func (p *page) judged(report *chaos.PhaseReport) {
	for _, file := range report.Verdict.Visualizations {
		drawing, err := readDrawing(file)
		if err != nil {
			p.problems = append(p.problems, err)
			continue
		}
		p.report.Drawings[p.phases] = append(p.report.Drawings[p.phases], drawing)
	}
	p.phases++
}

func readDrawing(file string) (htmlreport.Drawing, error) {
	info, err := os.Stat(file)
	if err != nil {
		return htmlreport.Drawing{}, err
	}
	if info.Size() > maxDrawingBytes {
		return htmlreport.Drawing{}, fmt.Errorf("drawing %s has %d bytes, more than the %d of a page: use --drawings", file, info.Size(), maxDrawingBytes)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return htmlreport.Drawing{}, err
	}
	name := strings.TrimSuffix(filepath.Base(file), ".html")
	return htmlreport.Drawing{Name: name, HTML: string(text)}, nil
}

// write writes the page about the run.
func (p *page) write(report *chaos.Report) error {
	p.report.Report = report
	file, err := os.Create(p.path)
	if err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	err = errors.Join(append(p.problems, htmlreport.Write(file, &p.report), file.Close(), p.remove())...)
	if err != nil {
		return fmt.Errorf("write report %s: %w", p.path, err)
	}
	return nil
}
