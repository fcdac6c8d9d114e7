package clients_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// variable is what differs from run to run, and the word that stands for it.
var variable = []struct {
	pattern *regexp.Regexp
	word    string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`\b2[0-9]{3}-[01][0-9]-[0-3][0-9]T[0-9:.]+Z`), "TIME"},
	{regexp.MustCompile(`\b2[0-9]{3}-[01][0-9]-[0-3][0-9] [0-9:]+ [+-][0-9]{4} [A-Z]+`), "TIME"},
	{regexp.MustCompile(`\b[A-Z][a-z]{2}, [0-3][0-9] [A-Z][a-z]{2} 2[0-9]{3} [0-9:]+ [+-][0-9]{4}`), "TIME"},
	{regexp.MustCompile(`(?m)(^|\s)([0-9]+[smhdy])+([)\s]|$)`), "${1}AGE${3}"},
	{regexp.MustCompile(`((?:resourceVersion|Resource Version)"?: *"?)[0-9]+`), "${1}VERSION"},
	{regexp.MustCompile(`https://127\.0\.0\.1:[0-9]+`), "SERVER"},
	{regexp.MustCompile(`(?m)[ \t]+`), " "},
	{regexp.MustCompile(`(?m) $`), ""},
}

// steady returns the text with words for ages, times, uids, versions and addresses, and with single
// spaces, since the width of a column follows its widest value; and with no empty lines at the end.
func steady(text string) string {
	for _, v := range variable {
		text = v.pattern.ReplaceAllString(text, v.word)
	}
	return strings.TrimRight(text, "\n")
}

func TestSteady(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"NAME   AGE\nweb    12s   <none>\ndb  3m2s\n\n", "NAME AGE\nweb AGE <none>\ndb AGE"},
		{"8y (x3 over 8y5d)\n", "AGE (x3 over AGE)"},
		{"uid: 0b6e7a4c-6f5e-4b8e-9a65-0d0f6a1f2c3d", "uid: UID"},
		{"creationTimestamp: \"2026-11-21T20:02:49Z\"", "creationTimestamp: \"TIME\""},
		{"Created: Sat, 21 Nov 2026 20:02:49 +0000", "Created: TIME"},
		{`{"resourceVersion":"12","x":"12"}`, `{"resourceVersion":"VERSION","x":"12"}`},
		{"  Resource Version:  12\n", " Resource Version: VERSION"},
		{"image: web:1s\n", "image: web:1s"},
	} {
		if got := steady(c.text); got != c.want {
			t.Errorf("steady(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

// rewrite puts text in the place of a file of a script.
func rewrite(script, file, text string) error {
	path := filepath.Join(scripts, script+".txtar")
	archive, err := txtar.ParseFile(path)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == file })
	archive.Files[i].Data = []byte(strings.TrimRight(text, "\n") + "\n")
	return os.WriteFile(path, txtar.Format(archive), 0o644)
}
