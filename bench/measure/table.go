package measure

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Table is a table of results. The first column names the rows.
type Table struct {
	Title   string     `json:"title"`
	Command string     `json:"command"` // that makes it
	Machine string     `json:"machine"`
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
}

// NewTable returns a table without rows, made by this process on this machine.
func NewTable(title, command string, columns ...string) *Table {
	return &Table{Title: title, Command: command, Machine: machine(), Columns: columns}
}

// Add adds a row: floats are shown with three digits, durations as milliseconds, others as they are.
func (t *Table) Add(cells ...any) {
	var row []string
	for _, c := range cells {
		switch v := c.(type) {
		case float64:
			row = append(row, Digits(v))
		case time.Duration:
			row = append(row, Digits(v.Seconds()*1e3))
		default:
			row = append(row, fmt.Sprint(v))
		}
	}
	t.Rows = append(t.Rows, row)
}

// Print writes the table as Markdown, and as one line of JSON in a comment that Markdown hides.
func (t *Table) Print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n### %s\n\n`%s`, %s\n\n", t.Title, t.Command, t.Machine)
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(t.Columns)
	fmt.Fprintf(&b, "|%s\n", strings.Repeat("---|", len(t.Columns)))
	for _, row := range t.Rows {
		line(row)
	}
	content, err := json.Marshal(t)
	if err != nil {
		return err
	}
	fmt.Fprintf(&b, "\n<!-- %s -->\n", content)
	_, err = io.WriteString(w, b.String())
	return err
}

// Digits formats a number with three digits, or all of those before the point.
func Digits(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// Percentile returns the time that so many percent of the times do not exceed; 0 if there are none.
func Percentile(all []time.Duration, percent int) time.Duration {
	if len(all) == 0 {
		return 0
	}
	all = slices.Sorted(slices.Values(all))
	return all[min(len(all)*percent/100, len(all)-1)]
}

// machine describes the machine, and how busy it is.
func machine() string {
	text := fmt.Sprintf("%s, %d cores", time.Now().UTC().Format("2006-01-02 15:04"), runtime.NumCPU())
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		text += ", load average before: " + strings.Join(strings.Fields(string(load))[:2], " and ")
	}
	return text
}
