package clients_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

var scriptLink = regexp.MustCompile(`\[([a-z-]+)\]\(testdata/script/([a-z-]+)\.txtar\)`)

// TestList compares KUBECTL.md with the scripts that there are: each stands in it once.
func TestList(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("KUBECTL.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed, want []string
	for _, link := range scriptLink.FindAllStringSubmatch(string(text), -1) {
		if link[1] != link[2] {
			t.Errorf("%s leads to %s", link[1], link[2])
		}
		listed = append(listed, link[2]+".txtar")
	}
	entries, err := os.ReadDir(scripts)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		want = append(want, filepath.Base(entry.Name()))
	}
	slices.Sort(listed)
	slices.Sort(want)
	if !slices.Equal(listed, want) {
		t.Errorf("KUBECTL.md lists\n%q\nthere are\n%q", listed, want)
	}
}
