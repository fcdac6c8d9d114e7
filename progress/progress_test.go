package progress

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/creack/pty"
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
		"a fast one on a terminal": {true, 4 << 20, time.Millisecond, ""},
		"a log":                    {false, 4 << 20, 6 * time.Second, "copy: 2.0 MiB of 4.0 MiB (50 %), 0.2 MiB/s, 12s left\ncopy: 4.0 MiB of 4.0 MiB (100 %), 0.2 MiB/s, 0s left\n"},
		"a short one in a log":     {false, 4 << 20, time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got bytes.Buffer
				p := New(&got, "copy", c.total, Bytes())
				p.terminal = c.terminal
				slow := readerFunc(func(b []byte) (int, error) {
					time.Sleep(c.pause)
					return len(b), nil
				})
				from := p.Reader(slow)
				for range 4 {
					if _, err := io.ReadFull(from, make([]byte, 1<<20)); err != nil {
						t.Fatal(err)
					}
				}
				p.End()
				if got.String() != c.want {
					t.Errorf("got\n%s\nwant\n%s", strings.ReplaceAll(got.String(), "\r", "\n"), strings.ReplaceAll(c.want, "\r", "\n"))
				}
			})
		})
	}
}

// TestCount: things that take long are counted by the minute, the remaining time goes on between two
// of them, and messages take the place of the line.
func TestCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got bytes.Buffer
		p := New(&got, "chaos", 4, Count("phases"))
		p.terminal = true
		p.Tick()
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		time.Sleep(28500 * time.Millisecond)
		synctest.Wait()
		got.Reset()
		p.Add(1)
		io.WriteString(p.Beside(&got), "a message\n")
		time.Sleep(1500 * time.Millisecond)
		p.End()
		time.Sleep(time.Minute) // nothing follows
		io.WriteString(p.Beside(&got), "the last one\n")
		text := strings.ReplaceAll(strings.ReplaceAll(got.String(), "\r", "|"), clearLine, "$")
		const line = "|chaos: 1 of 4 phases (25 %), 2.0/min, "
		if want := "|$a message\n" + line + "1m30s left$" + line + "1m29s left$|$the last one\n"; !strings.HasSuffix(text, want) {
			t.Errorf("got\n%s\nwant at the end\n%s", text, want)
		}

		p = New(&got, "chaos", 0, Count("phases"))
		p.Until(time.Now().Add(time.Hour))
		got.Reset()
		time.Sleep(time.Minute)
		p.Add(2)
		if want := "chaos: 2 phases, 2.0/min, 59m0s left\n"; got.String() != want {
			t.Errorf("got %q, want %q", got.String(), want)
		}
	})
}

// TestPseudoTerminal: a terminal is recognized as one, and has a line that is overwritten.
func TestPseudoTerminal(t *testing.T) {
	t.Parallel()
	screen, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	defer terminal.Close()
	synctest.Test(t, func(t *testing.T) {
		p := New(terminal, "apply the log", 80_000, Count("entries"))
		for range 2 {
			time.Sleep(time.Second)
			p.Add(20_000)
		}
		p.End()
	})
	const want = "\rapply the log: 20000 of 80000 entries (25 %), 20000/s, 3s left\x1b[K" +
		"\rapply the log: 40000 of 80000 entries (50 %), 20000/s, 2s left\x1b[K\r\x1b[K"
	got := make([]byte, len(want))
	if _, err := io.ReadFull(screen, got); err != nil || string(got) != want {
		t.Errorf("the terminal has %q, want %q (%v)", got, want, err)
	}
}
