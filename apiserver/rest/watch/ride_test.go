package watch

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"quorate/apiserver/objects/selector"
	"quorate/raftstore/state"
)

// TestStreamsOfAConnectionAreServedByOne: handlers of streams at rest sleep on while their events are sent, but for one of them (D38).
func TestStreamsOfAConnectionAreServedByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBus(t)
		defer b.end()
		var clients []*passenger
		for i := range 9 {
			p := newPassenger(i % 2)
			clients = append(clients, p)
			b.board(p, all(), Options{})
		}
		synctest.Wait()
		if n := b.resting(); n != 9 {
			t.Errorf("%v streams at rest", n)
		}
		for _, name := range []string{"a", "b", "c"} {
			b.pod("x", name)
			synctest.Wait()
		}
		for i, p := range clients {
			wantNames(t, fmt.Sprint("stream ", i), p, "a", "b", "c")
			if lent, wrote := p.counts(); lent != 3 || wrote != 0 {
				t.Errorf("stream %d: %d lent, %d written by its handler", i, lent, wrote)
			}
		}
	})
}

// TestRidersSeeWhatTheyAskedFor: streams with selectors and of namespaces ride with others (D19, D31).
func TestRidersSeeWhatTheyAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBus(t)
		defer b.end()
		every, named, spaced := newPassenger(1), newPassenger(1), newPassenger(1)
		sel, err := selector.Parse("", "metadata.name=b", &selector.Fields{Supported: map[string]bool{"metadata.name": true}})
		if err != nil {
			t.Fatal(err)
		}
		b.board(every, all(), Options{})
		b.board(named, all(), Options{Projection: Projection{Selector: sel}})
		b.board(spaced, state.NamespacePrefix("pods", "y"), Options{})
		synctest.Wait()
		b.pod("x", "a")
		b.pod("y", "b")
		b.pod("y", "c")
		synctest.Wait()
		wantNames(t, "all", every, "a", "b", "c")
		wantNames(t, "by name", named, "b")
		wantNames(t, "by namespace", spaced, "b", "c")
	})
}

// TestRiderThatHasNotTakenWhatCameBefore: its handler sends, or waits, by itself; nobody else notices (D38).
func TestRiderThatHasNotTakenWhatCameBefore(t *testing.T) {
	for _, slow := range []int{0, 1, 2} { // one of them carries
		synctest.Test(t, func(t *testing.T) {
			b := newBus(t)
			defer b.end()
			clients := []*passenger{newPassenger(1), newPassenger(1), newPassenger(1)}
			for _, p := range clients {
				b.board(p, all(), Options{})
				synctest.Wait()
			}
			b.pod("x", "a")
			synctest.Wait()
			clients[slow].refuse(true)
			b.pod("x", "b")
			synctest.Wait()
			clients[slow].refuse(false)
			b.pod("x", "c")
			synctest.Wait()
			for i, p := range clients {
				wantNames(t, fmt.Sprint("stream ", i), p, "a", "b", "c")
				if lent, wrote := p.counts(); i == slow && (lent != 2 || wrote == 0) || i != slow && wrote > 0 {
					t.Errorf("stream %d: %d lent, %d written by its handler", i, lent, wrote)
				}
			}
			if n := count(t, b.streams.metrics.returned); n != 1 {
				t.Errorf("%v counted", n)
			}
		})
	}
}

// metered wraps an answer, as the server does, and counts what is written.
type metered struct {
	http.ResponseWriter
	bytes int64
}

func (m *metered) Unwrap() http.ResponseWriter { return m.ResponseWriter }
func (m *metered) Count(bytes int64)           { m.bytes += bytes }

func (m *metered) Write(p []byte) (int, error) {
	n, err := m.ResponseWriter.Write(p)
	m.bytes += int64(n)
	return n, err
}

// TestWhatIsLentIsCounted: with what the handler writes, it is all that was sent.
func TestWhatIsLentIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBus(t)
		p := newPassenger(1)
		m := &metered{ResponseWriter: p}
		b.board(m, all(), Options{Bookmarks: true})
		synctest.Wait()
		b.pod("x", "a")
		synctest.Wait()
		b.end()
		if lent, wrote := p.counts(); lent != 1 || wrote == 0 || m.bytes != int64(p.got.Len()) {
			t.Errorf("%d bytes counted of %d: %d lent, %d written", m.bytes, p.got.Len(), lent, wrote)
		}
	})
}

// TestWhatIsTooLargeIsNotLent: what streams lend is memory that their clients hold on to.
func TestWhatIsTooLargeIsNotLent(t *testing.T) {
	for _, tc := range []struct {
		name     string
		bytes    int
		selector *selector.Selector
		lent     int
	}{
		{"shared", maxBatchBytes - 100, nil, 1},
		{"shared, too large", maxBatchBytes, nil, 0},
		{"its own", maxOwnBytes - 100, &selector.Selector{}, 1},
		{"its own, too large", maxOwnBytes, &selector.Selector{}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBus(t)
				defer b.end()
				p := newPassenger(1)
				b.board(p, all(), Options{Projection: Projection{Selector: tc.selector}})
				synctest.Wait()
				b.object("x", "a", `,"more":"`+strings.Repeat("m", tc.bytes)+`"`)
				synctest.Wait()
				wantNames(t, "stream", p, "a")
				if lent, _ := p.counts(); lent != tc.lent {
					t.Errorf("%d lent", lent)
				}
			})
		})
	}
}

// TestCarrierThatGoes: when its client goes, or its time is up, another stream of the connection carries (D28, D46).
func TestCarrierThatGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBus(t)
		defer b.end()
		carrier, timed, last := newPassenger(1), newPassenger(1), newPassenger(1)
		leave := b.board(carrier, all(), Options{})
		synctest.Wait()
		b.board(last, all(), Options{})
		synctest.Wait()
		b.board(timed, all(), Options{Timeout: time.Minute})
		synctest.Wait()
		b.pod("x", "a")
		synctest.Wait()
		leave()
		synctest.Wait()
		b.pod("x", "b")
		synctest.Wait()
		time.Sleep(time.Minute)
		synctest.Wait()
		b.pod("x", "c")
		synctest.Wait()
		wantNames(t, "the first carrier", carrier, "a")
		wantNames(t, "the second", timed, "a", "b")
		wantNames(t, "the last", last, "a", "b", "c")
	})
}

// TestRidersGetTheirBookmarks: each minute, behind all that was lent (D25).
func TestRidersGetTheirBookmarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBus(t)
		defer b.end()
		b.index = 7
		b.hub.Begin(7)
		clients := []*passenger{newPassenger(1), newPassenger(1)}
		for _, p := range clients {
			b.board(p, all(), Options{Bookmarks: true, Timeout: 90 * time.Second})
		}
		synctest.Wait()
		b.pod("x", "a")
		synctest.Wait()
		time.Sleep(time.Minute)
		synctest.Wait()
		b.pod("x", "b")
		synctest.Wait()
		time.Sleep(time.Minute)
		synctest.Wait()
		for i, p := range clients {
			wantNames(t, fmt.Sprint("stream ", i), p, "@7", "a", "@8", "b", "@9")
		}
	})
}

// TestStuckRiderIsCut: also one that never took what was lent, while nothing more happens (D38).
func TestStuckRiderIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBus(t)
		defer b.end()
		stuck, well := newPassenger(1), newPassenger(1)
		stuck.pending = true
		b.board(stuck, all(), Options{})
		b.board(well, all(), Options{})
		synctest.Wait()
		b.pod("x", "a")
		synctest.Wait()
		b.streams.cutStuck(stuckTicks) // one tick too early
		synctest.Wait()
		if n := b.streams.Open(); n != 2 {
			t.Fatalf("%d streams: cut too early", n)
		}
		b.streams.cutStuck(1 + stuckTicks)
		synctest.Wait()
		if n := b.streams.Open(); n != 1 || count(t, b.streams.metrics.cut) != 1 {
			t.Errorf("%d streams left", n)
		}
		select {
		case <-stuck.late:
		default:
			t.Error("its writes were not ended")
		}
		b.pod("x", "b")
		synctest.Wait()
		wantNames(t, "the other", well, "a", "b")
	})
}

// TestDrainOfACarriage: all of its streams end, whoever carries.
func TestDrainOfACarriage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBus(t)
		var clients []*passenger
		for range 50 {
			p := newPassenger(1)
			clients = append(clients, p)
			b.board(p, all(), Options{Bookmarks: true})
		}
		synctest.Wait()
		if err := b.streams.Drain(t.Context()); err != nil {
			t.Error(err)
		}
		b.end()
		for i, p := range clients {
			wantNames(t, fmt.Sprint("stream ", i), p, "@0", "@0")
		}
	})
}

// TestCarrierAndItsSuccessorEndTogether: a stream that is appointed while its own client goes passes
// the appointment on; whoever is left goes on (D28, D38).
func TestCarrierAndItsSuccessorEndTogether(t *testing.T) {
	for round := range 300 {
		synctest.Test(t, func(t *testing.T) {
			b := newBus(t)
			defer b.end()
			carrier, third, appointed := newPassenger(1), newPassenger(1), newPassenger(1)
			var leave [2]func()
			leave[0] = b.board(carrier, all(), Options{})
			synctest.Wait()
			b.board(third, all(), Options{})
			synctest.Wait()
			leave[1] = b.board(appointed, all(), Options{}) // the last to come is appointed first
			synctest.Wait()
			leave[round%2]()
			leave[1-round%2]()
			synctest.Wait()
			b.pod("x", "a")
			synctest.Wait()
			wantNames(t, "the third", third, "a")
		})
		if t.Failed() {
			return
		}
	}
}
