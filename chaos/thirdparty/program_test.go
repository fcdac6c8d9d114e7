package thirdparty_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"quorate/chaos/thirdparty"
)

// No process of the group outlives Run: neither that of a program that ends, nor that of one whose
// time is over.
func TestRunLeavesNoProcess(t *testing.T) {
	for name, tc := range map[string]struct {
		then string
		err  error
	}{
		"ends by itself":   {"exit 0", nil},
		"its time is over": {"exec sleep 1000", context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "output")
			output, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			defer output.Close()
			bash := thirdparty.Program{Path: "bash", Args: []string{"-c", "sleep 1000 & echo $!; " + tc.then}, Env: os.Environ(), Output: output}
			if err := bash.Run(t.Context(), 2*time.Second); !errors.Is(err, tc.err) {
				t.Errorf("got %v, want %v", err, tc.err)
			}
			printed, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(string(printed)))
			if err != nil {
				t.Fatal(err)
			}
			for start := time.Now(); alive(pid); time.Sleep(time.Millisecond) {
				if time.Since(start) > time.Minute {
					t.Fatal("a process in the background is left")
				}
			}
		})
	}
}

// alive reports whether a process runs. One that has been killed may remain as a zombie until its
// parent takes notice.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ") && syscall.Kill(pid, 0) == nil
}
