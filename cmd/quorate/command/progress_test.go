package command

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestProgress: a terminal has one line that is overwritten and removed; elsewhere a line is printed
// from time to time, and none about a short transfer.
func TestProgress(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		terminal bool
		total    int64
		pause    time.Duration // between two MiB of four
		want     string
	}{
		"a terminal": {
			true, 4 << 20, time.Second,
			"\rcopy: 1.0 MiB of 4.0 MiB (25 %), 1.0 MiB/s, 3s left\x1b[K" +
				"\rcopy: 2.0 MiB of 4.0 MiB (50 %), 1.0 MiB/s, 2s left\x1b[K" +
				"\rcopy: 3.0 MiB of 4.0 MiB (75 %), 1.0 MiB/s, 1s left\x1b[K" +
				"\rcopy: 4.0 MiB of 4.0 MiB (100 %), 1.0 MiB/s, 0s left\x1b[K\r\x1b[K",
		},
		"a terminal and no total": {
			true, 0, 10 * time.Second,
			"\rcopy: 1.0 MiB, 0.1 MiB/s\x1b[K\rcopy: 2.0 MiB, 0.1 MiB/s\x1b[K\rcopy: 3.0 MiB, 0.1 MiB/s\x1b[K\rcopy: 4.0 MiB, 0.1 MiB/s\x1b[K\r\x1b[K",
		},
		"a fast one on a terminal": {true, 4 << 20, time.Millisecond, "\r\x1b[K"},
		"a log":                    {false, 4 << 20, 6 * time.Second, "copy: 2.0 MiB of 4.0 MiB (50 %), 0.2 MiB/s, 12s left\ncopy: 4.0 MiB of 4.0 MiB (100 %), 0.2 MiB/s, 0s left\n"},
		"a short one in a log":     {false, 4 << 20, time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got bytes.Buffer
				p := newProgress(&Process{Stderr: &got}, "copy", c.total)
				p.terminal = c.terminal
				slow := readerFunc(func(b []byte) (int, error) {
					time.Sleep(c.pause)
					return len(b), nil
				})
				from := p.reader(slow)
				for range 4 {
					if _, err := io.ReadFull(from, make([]byte, 1<<20)); err != nil {
						t.Fatal(err)
					}
				}
				p.end()
				if got.String() != c.want {
					t.Errorf("got\n%s\nwant\n%s", strings.ReplaceAll(got.String(), "\r", "\n"), strings.ReplaceAll(c.want, "\r", "\n"))
				}
			})
		})
	}
}
