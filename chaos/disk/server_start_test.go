package disk_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"quorate/chaos/disk"
)

// firstStart: the power is cut at some point of a node's first start. The next start makes a good
// node of what is there.
func firstStart(t *testing.T, binary string) {
	slow := disk.Faults{FsyncDelay: 2 * time.Millisecond} // so that each fsync can be told from the next
	whole := newServer(t, binary)
	whole.disk.Set(slow)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := whole.StartAll(ctx) // and no more: what clients write syncs as well
	must(t, err)
	most := whole.disk.Stats().Fsyncs
	if most < 10 {
		t.Fatalf("a first start did %d fsyncs", most)
	}
	whole.kill(t)
	r := rand.New(rand.NewPCG(3, 3))
	for name, options := range map[string][]disk.Option{"ordered": nil, "strict": {disk.Strict}} {
		t.Run(name, func(t *testing.T) {
			for range 5 {
				s := newServer(t, binary, options...)
				s.disk.Set(slow)
				must(t, s.Start(t.Context(), node))
				after := r.Int64N(most)
				await(t, "so many fsyncs are done", func() bool { return s.disk.Stats().Fsyncs >= after })
				s.kill(t)
				must(t, s.disk.Tear(r))
				s.disk.Set(disk.Faults{})
				s.begin(t)
				l := newLedger()
				s.writeAndKill(t, l, 0, 10, func() {})
				must(t, s.disk.Crash())
				s.restart(t)
				s.verify(t, l)
				if t.Failed() {
					t.Fatalf("after %d of %d fsyncs", after, most)
				}
			}
		})
	}
}
