package checkout

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository makes the working directory a repository of two commits, of which the first has the
// tag "first", and the second changes a file from "old" to "new".
func repository(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	for _, role := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+role+"_NAME", "test")
		t.Setenv("GIT_"+role+"_EMAIL", "test@example.com")
	}
	run(t, "init", "--quiet")
	for _, content := range []string{"old", "new"} {
		write(t, content)
		run(t, "add", "file")
		run(t, "commit", "--quiet", "--message", content)
	}
	run(t, "tag", "first", "HEAD~")
}

func run(t *testing.T, args ...string) {
	t.Helper()
	if _, err := git(t.Context(), args...); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, content string) {
	t.Helper()
	if err := os.WriteFile("file", []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestWorktreeHasTheSourcesOfItsCommit(t *testing.T) {
	repository(t)
	dir := filepath.Join(t.TempDir(), "source")
	w, err := Add(t.Context(), dir, "first")
	if err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(filepath.Join(w.Dir, "file")); err != nil || string(content) != "old" {
		t.Errorf("got %q, %v, want the old content", content, err)
	}
	if want, err := git(t.Context(), "rev-parse", "--short", "first"); err != nil || w.Commit != want {
		t.Errorf("got commit %q, want %q, %v", w.Commit, want, err)
	}
	if err := w.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}

func TestUnknownCommitIsNamed(t *testing.T) {
	repository(t)
	_, err := Add(t.Context(), filepath.Join(t.TempDir(), "source"), "nowhere")
	if err == nil || !strings.Contains(err.Error(), "nowhere^{commit}") {
		t.Errorf("got %v", err)
	}
}

func TestWorkingCopyTellsWhetherItWasChanged(t *testing.T) {
	repository(t)
	clean, err := WorkingCopy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	write(t, "newer")
	changed, err := WorkingCopy(t.Context())
	if err != nil || changed != clean+"-dirty" {
		t.Errorf("got %q, %v after %q", changed, err, clean)
	}
}
