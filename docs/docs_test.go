// Package docs_test checks the documents of the whole repository.
package docs_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"quorate/chaos/failpoint"
)

const root = ".."

// readmeLines bounds the README, which a newcomer should read in three minutes.
const readmeLines = 150

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	anchor  = regexp.MustCompile(`<a id="([^"]+)">`)
	fenced  = regexp.MustCompile("(?ms)^```.*?^```")
)

// TestLinks checks that each relative link of a document leads to a file, and to a heading or an
// anchor in it.
func TestLinks(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, path := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(prose(t, path), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			checked++
			file, place, _ := strings.Cut(m[1], "#")
			target := path
			if file != "" {
				target = filepath.Join(filepath.Dir(path), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link %s leads nowhere", path, m[1])
			} else if place != "" && strings.HasSuffix(target, ".md") && !slices.Contains(anchors(prose(t, target)), place) {
				t.Errorf("%s: the link %s leads to no heading", path, m[1])
			}
		}
	}
	if checked < 100 {
		t.Errorf("%d links checked, want more than 100", checked)
	}
}

// TestIndex checks that the index of the documents names each of them.
func TestIndex(t *testing.T) {
	t.Parallel()
	index := prose(t, "README.md")
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if page != "README.md" && !strings.Contains(index, "]("+page+")") {
			t.Errorf("docs/README.md does not name %s", page)
		}
	}
}

// TestNumberOfFailpoints checks the pages that say at how many moments of its code a node is killed.
func TestNumberOfFailpoints(t *testing.T) {
	t.Parallel()
	kills := 0
	for _, p := range failpoint.Points() {
		if p.Stage != failpoint.Breaking {
			kills++
		}
	}
	for path, form := range map[string]string{
		"guarantees.md":      "nodes killed at %d moments of their code",
		"../chaos/README.md": "kills nodes at %d points of their code",
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf(form, kills); !strings.Contains(string(text), want) {
			t.Errorf("%s does not say: %s", path, want)
		}
	}
}

// TestReadmeIsShort bounds the README. What does not fit is a page of docs.
func TestReadmeIsShort(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n > readmeLines {
		t.Errorf("README.md has %d lines, want at most %d", n, readmeLines)
	}
}

// documents returns the paths of all Markdown files but those of test data and of what is built.
func documents(t *testing.T) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{"testdata", "bin", ".git", "quorate-data", "compose-data"}, d.Name()) {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".md") {
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// prose returns a document without its fenced blocks of code.
func prose(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return fenced.ReplaceAllString(string(text), "")
}

// anchors returns the places of a document that a link may name.
func anchors(text string) []string {
	var places []string
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		place := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
				return r
			case r >= 'A' && r <= 'Z':
				return r + 'a' - 'A'
			}
			return -1
		}, m[1])
		places = append(places, place)
	}
	for _, m := range anchor.FindAllStringSubmatch(text, -1) {
		places = append(places, m[1])
	}
	return places
}
