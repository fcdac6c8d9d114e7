package watch

import (
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"quorate/apiserver/wire/negotiate"
	"quorate/raftstore"
)

// clock encodes an object as the time at which it is asked to.
type clock struct{ ages bool }

func (c clock) Append(dst, _ []byte, now time.Time) ([]byte, error) {
	if !c.ages {
		return append(dst, `"sometime"}`...), nil
	}
	return append(now.UTC().AppendFormat(append(dst, '"'), time.RFC3339Nano), `"}`...), nil
}

func (c clock) Ages() bool { return c.ages }

// tableStream is a stream of Tables.
func tableStream(t *testing.T, e Encoder) (*Stream, *httptest.ResponseRecorder) {
	t.Helper()
	st, w := testStream(t, negotiate.JSON)
	st.opts.Encoder, st.opts.Table = e, Table{First: `{"columns":1,"at":`, Later: `{"at":`}
	return st, w
}

// TestTableFrames: the first object has the columns, be it a bookmark (B29).
func TestTableFrames(t *testing.T) {
	t.Parallel()
	st, w := tableStream(t, clock{})
	st.event(change("7"))
	st.send(added, configMap("8"))
	st.opts.Table.Later = "{"
	st.bookmark(9, "")
	st.fail(raftstore.ErrClosed)
	want := `{"type":"ADDED","object":{"columns":1,"at":"sometime"}}
{"type":"ADDED","object":{"at":"sometime"}}
{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"},"rows":[]}}
{"type":"ERROR","object":{"kind":"Status",`
	if !strings.HasPrefix(w.Body.String(), want) {
		t.Errorf("got %s\nwant %s", w.Body, want)
	}
	st, w = tableStream(t, clock{})
	st.opts.Table.First = `{"columns":1,`
	st.bookmark(9, "")
	if got, want := w.Body.String(), `{"type":"BOOKMARK","object":{"columns":1,"metadata":{"resourceVersion":"9"},"rows":[]}}`+"\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestAgesAreSharedForASecond: what tells an age is made once a second, however many streams send it; all else once.
func TestAgesAreSharedForASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first, one := tableStream(t, clock{ages: true})
		second, two := tableStream(t, clock{ages: true})
		third, three := tableStream(t, clock{})
		second.streams, third.streams = first.streams, first.streams
		e := change("7")
		send := func(made, reused float64) {
			t.Helper()
			for _, st := range []*Stream{first, second, third} {
				st.event(e)
			}
			m := first.streams.metrics.shared
			if count(t, m.made) != made || count(t, m.reused) != reused {
				t.Errorf("made %v, want %v; reused %v, want %v", count(t, m.made), made, count(t, m.reused), reused)
			}
		}
		send(2, 1) // by the two encoders
		time.Sleep(999 * time.Millisecond)
		send(2, 4)
		time.Sleep(time.Millisecond)
		send(3, 6) // the age alone is made again
		if one.Body.String() != two.Body.String() {
			t.Errorf("sent %s and %s", one.Body, two.Body)
		}
		if sent := one.Body.String(); strings.Count(sent, ":00Z") != 2 || strings.Count(sent, ":01Z") != 1 {
			t.Errorf("sent %s", sent)
		}
		if sent := three.Body.String(); strings.Count(sent, "sometime") != 3 {
			t.Errorf("sent %s", sent)
		}
	})
}

// TestSharedTablesCostNothing: a change of which another stream's Table was made is sent without an allocation.
func TestSharedTablesCostNothing(t *testing.T) {
	st, _ := tableStream(t, clock{})
	st.w = discard{}
	e := change("7")
	st.event(e)
	if n := testing.AllocsPerRun(100, func() { st.event(e) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestEncodersDoNotStandInEachOthersWay: what two of them make of the same changes is kept for both.
func TestEncodersDoNotStandInEachOthersWay(t *testing.T) {
	t.Parallel()
	tables, _ := tableStream(t, clock{})
	binary, _ := testStream(t, negotiate.Protobuf)
	binary.streams = tables.streams
	const changes = 10
	values := make([][]byte, changes)
	for i := range values {
		values[i] = configMap(strconv.Itoa(i))
	}
	for range 3 {
		for _, v := range values {
			tables.share(added, v)
			binary.share(added, v)
		}
	}
	// Slots are found by hashing: two that fall into one are made again.
	if made := count(t, tables.streams.metrics.shared.made); made > 2*changes+8 {
		t.Errorf("%v made of %d changes by two encoders", made, changes)
	}
}
