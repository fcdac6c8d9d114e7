package servers

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A process that stops on request is no error, whether it handles the signal or not. One
// that ended by itself with a code is one, and the error has what it printed.
func TestStop(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ script, want string }{
		"handles the signal": {"trap 'exit 0' TERM; echo begun; while :; do sleep 0.01; done", ""},
		"dies by the signal": {"echo begun; exec sleep 1000", ""},
		"ends with a code":   {"echo begun; echo no disk; exit 3", "no disk"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &Process{Name: "one", Binary: "sh", Args: []string{"-c", tc.script}, Log: filepath.Join(t.TempDir(), "log")}
			if err := p.Start(); err != nil {
				t.Fatal(err)
			}
			await(t, func() bool { return strings.Contains(p.LastLines(9), "begun") })
			if tc.want != "" {
				await(t, p.Ended)
			}
			err := p.Stop()
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if err := p.Stop(); err != nil {
				t.Errorf("a second Stop: %v", err)
			}
		})
	}
}

// A process that was killed can start again.
func TestKill(t *testing.T) {
	t.Parallel()
	p := &Process{Name: "one", Binary: "sleep", Args: []string{"1000"}, Log: filepath.Join(t.TempDir(), "log")}
	for range 2 {
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		pid := p.PID()
		if err := p.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, 0); err == nil {
			t.Error("the process goes on")
		}
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
}

func await(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited for a minute")
		}
	}
}
