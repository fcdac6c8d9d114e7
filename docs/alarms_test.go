package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"quorate/raftstore"
)

// alarmRow is a row of the table of alarms: its name, and what to do in the last column.
var alarmRow = regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|.*\\| ([^|]+) \\|$")

// TestAlarms checks that docs/alarms.md describes each alarm and no other, with the advice that the
// commands, the API and the console give.
func TestAlarms(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("alarms.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	for _, row := range alarmRow.FindAllStringSubmatch(string(text), -1) {
		documented[row[1]] = strings.ReplaceAll(row[2], "`", "")
	}
	for _, name := range raftstore.AlarmNames() {
		if name.Advice() == "" {
			t.Errorf("there is no advice about the alarm %s", name)
		}
		if got, want := documented[string(name)], name.Advice(); got != want {
			t.Errorf("docs/alarms.md advises about %s:\n%s\nwant\n%s", name, got, want)
		}
		delete(documented, string(name))
	}
	for name := range documented {
		t.Errorf("docs/alarms.md describes %s, which is no alarm", name)
	}
}
