package disk

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"
)

// TestBoltSurvivesPowerCuts checks that after a kill and a power cut a bbolt file contains exactly
// the committed transactions, and perhaps the one in progress.
func TestBoltSurvivesPowerCuts(t *testing.T) {
	for name, options := range map[string][]Option{"ordered": nil, "strict": {Strict}} {
		t.Run(name, func(t *testing.T) {
			d := mounted(t, options...)
			r := rand.New(rand.NewPCG(1, 2))
			path := filepath.Join(d.Dir(), "x.db")
			acknowledged := 0
			for round := range 6 {
				midway := round >= 3 // an fsync is under way for certain
				if acknowledged > 0 || len(options) == 0 {
					acknowledged = commitAndKill(t, d, midway, path, r.IntN(40), acknowledged)
				} else {
					acknowledged = commitAndKill(t, d, midway, path, 1+r.IntN(40), 0)
					syncDir(t, d.Dir()) // which bbolt leaves to its user
				}
				if round%2 == 0 {
					must(t, d.Crash())
				} else {
					must(t, d.Tear(r))
				}
				if acknowledged == 0 {
					continue
				}
				last, err := strconv.Atoi(output(t, "committed", path))
				must(t, err)
				if last != acknowledged && last != acknowledged+1 {
					t.Fatalf("round %d: transaction %d is the last, %d was acknowledged", round, last, acknowledged)
				}
				acknowledged = last
			}
			if s := d.Stats(); s.LostBytes == 0 {
				t.Errorf("no power cut took anything: %+v", s)
			}
		})
	}
}

// commitAndKill returns the last transaction that was acknowledged, when the process that made so
// many has been killed: midway in an fsync, or anywhere.
func commitAndKill(t *testing.T, d *Disk, midway bool, path string, count, acknowledged int) int {
	t.Helper()
	cmd, lines := start(t, "commit", path, "1000000")
	for range count {
		if !lines.Scan() {
			t.Fatal(errors.Join(errors.New("the process ended"), lines.Err()))
		}
		acknowledged = number(t, lines.Text())
	}
	if midway {
		d.Set(Faults{HangFsync: true})
		eventually(t, "an fsync hangs", func() bool { return d.Stats().Hanging == 1 })
	}
	must(t, cmd.Process.Kill())
	for lines.Scan() { // what it had printed by then
		acknowledged = number(t, lines.Text())
	}
	cmd.Wait() // it says that it was killed
	d.Set(Faults{})
	return acknowledged
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	must(t, err)
	return n
}
