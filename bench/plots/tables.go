package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// table is a table in Markdown.
type table struct {
	columns []string
	rows    [][]string
}

// column returns the index of a column, or -1.
func (t *table) column(name string) int { return slices.Index(t.columns, name) }

// read returns the tables of a file.
func read(path string) ([]table, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []table
	inside := false
	for line := range strings.Lines(string(content)) {
		cells, ok := cellsOf(line)
		switch {
		case !ok:
			inside = false
		case !inside:
			all, inside = append(all, table{columns: cells}), true
		case !strings.HasPrefix(cells[0], "---"):
			t := &all[len(all)-1]
			if len(cells) != len(t.columns) {
				return nil, fmt.Errorf("%s: %d cells below %d columns: %s", path, len(cells), len(t.columns), line)
			}
			t.rows = append(t.rows, cells)
		}
	}
	return all, nil
}

// cellsOf returns the cells of a line of a table.
func cellsOf(line string) (cells []string, ok bool) {
	line = strings.TrimSpace(line)
	if len(line) < 2 || line[0] != '|' || line[len(line)-1] != '|' {
		return nil, false
	}
	for cell := range strings.SplitSeq(line[1:len(line)-1], "|") {
		cells = append(cells, strings.TrimSpace(cell))
	}
	return cells, true
}

var numbers = regexp.MustCompile(`-?[0-9][0-9,]*(\.[0-9]+)?`)

// numberOf returns the first number in a cell, such as 9.4 in "9.4, 11.8 ms".
func numberOf(cell string) (float64, error) {
	text := strings.TrimRight(numbers.FindString(cell), ",")
	v, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil {
		return 0, fmt.Errorf("no number in %q", cell)
	}
	return v, nil
}
