package settings_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"quorate/cmd/quorate/settings"
)

// flagSet returns the flags of serve, parsed from args, and their destination.
func flagSet(t *testing.T, args ...string) (*pflag.FlagSet, *settings.Settings) {
	t.Helper()
	var s settings.Settings
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	flags.String("config", "", "")
	s.Register(flags, "host")
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return flags, &s
}

// TestTemplateIsReadByServe: the file has the given flags, and all others as comments that change
// nothing when they are uncommented.
func TestTemplateIsReadByServe(t *testing.T) {
	t.Parallel()
	flags, want := flagSet(t, "--name", "n1", "--bootstrap-expect", "3", "--join", "n1:7946,n2:7946", "--log-bytes", "1GiB",
		"--voter=false", "--object-quota", "*=7,configmaps=1000", "--event-ttl", "2h")
	content, err := settings.Template(flags, "host")
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile(`(?m)^# ([a-z0-9-]+: ?.*)$`).ReplaceAllStringFunc(string(content), func(line string) string {
		key, _, _ := strings.Cut(strings.TrimPrefix(line, "# "), ":")
		if flags.Lookup(key) == nil {
			return line // a sentence
		}
		return strings.TrimPrefix(line, "# ")
	})
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name != "config" && !strings.Contains(all, "\n"+f.Name+": ") {
			t.Errorf("the file does not name %s", f.Name)
		}
	})
	for name, text := range map[string]string{"as written": string(content), "with all keys uncommented": all} {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		read, got := flagSet(t, "--config", path)
		if err := settings.Resolve(read, func(string) (string, bool) { return "", false }); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
			continue
		}
		if err := got.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(*want, *got); diff != "" {
			t.Errorf("%s (-given +read):\n%s", name, diff)
		}
	}
	for line := range strings.Lines(string(content)) {
		if len(line) > 101 {
			t.Errorf("a long line: %s", line)
		}
	}
}
