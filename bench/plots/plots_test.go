package main

import (
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/plot/plotter"
)

// TestImagesAreOfTheTables checks that the images in docs are drawn from the tables beside them.
func TestImagesAreOfTheTables(t *testing.T) {
	if err := run(true); err != nil {
		t.Error(err)
	}
}

// TestPoints checks which cells of which tables become points.
func TestPoints(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.md")
	const text = `
Some text | with a bar.

| n | loss | a, ms |
|---|---|---|
| 20 ms | 0 % | 3.5, 7 ms |
| 20 ms | 1 % | 9 ms |
| 5 ms | 0 % | 1,250 ms |

| other | a, ms |
|---|---|
| 7 | 7 |

| n | loss | a, ms |
|---|---|---|
| 100 ms | 0 % | -1 |
| 200 ms | 0 % | |
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	tables, err := read(path)
	if err != nil || len(tables) != 3 {
		t.Fatalf("%d tables, %v", len(tables), err)
	}
	c := chart{x: "n", only: map[string]string{"loss": "0 %"}}
	got, err := c.points(tables, line{column: "a, ms"})
	want := plotter.XYs{{X: 5, Y: 1250}, {X: 20, Y: 3.5}, {X: 100, Y: -1}}
	if err != nil || len(got) != len(want) {
		t.Fatalf("%v, %v", got, err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("point %d is %v, want %v", i, got[i], want[i])
		}
	}
	if _, err := c.points(tables, line{column: "b"}); err == nil {
		t.Error("a column that is not there makes no error")
	}
	c.only = nil
	if _, err := c.points([]table{{columns: []string{"n", "a"}, rows: [][]string{{"1", "-"}, {"2", "3"}}}}, line{column: "a"}); err == nil {
		t.Error("a cell without a number makes no error")
	}
}
