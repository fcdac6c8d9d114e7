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

// clock is an Encoder that encodes any object as the time, if ages is set, or as a constant.
type clock struct{ ages bool }

func (c clock) Append(dst, _ []byte, now time.Time) ([]byte, error) {
	if !c.ages {
		return append(dst, `"sometime"}`...), nil
	}
	return append(now.UTC().AppendFormat(append(dst, '"'), time.RFC3339Nano), `"}`...), nil
}

func (c clock) Ages() bool { return c.ages }

// tableStream returns a stream of Tables and its recorder.
func tableStream(t *testing.T, e Encoder) (*Stream, *httptest.ResponseRecorder) {
	t.Helper()
	st, w := testStream(t, negotiate.JSON)
	st.opts.Encoder, st.opts.Table = e, Table{First: `{"columns":1,"at":`, Later: `{"at":`}
	return st, w
}

// TestTableFrames: the first Table of a stream has the columns, even if it is a bookmark (B29).
func TestTableFrames(t *testing.T) {
	t.Parallel()
	st, w := tableStream(t, clock{})
	st.event(change("7"))
	st.send(added, configMap("8"))
	st.opts.Table.Later = "{"
	st.bookmark(9)
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
	st.bookmark(9)
	if got, want := w.Body.String(), `{"type":"BOOKMARK","object":{"columns":1,"metadata":{"resourceVersion":"9"},"rows":[]}}`+"\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestAgesAreSharedForASecond: streams share the encoding of an object with ages for one second,
// and any other encoding for longer.
func TestAgesAreSharedForASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first, one := tableStream(t, clock{ages: true})
		second, two := tableStream(t, clock{ages: true})
		third, three := tableStream(t, clock{})
		second.streams, third.streams = first.streams, first.streams
		e := change("7")
		send := func(encoded, hits float64) {
			t.Helper()
			for _, st := range []*Stream{first, second, third} {
				st.event(e)
			}
			m := first.streams.metrics.cache
			if count(t, m.encoded) != encoded || count(t, m.hits) != hits {
				t.Errorf("encoded %v, want %v; reused %v, want %v", count(t, m.encoded), encoded, count(t, m.hits), hits)
			}
		}
		send(2, 1) // by the two encoders
		time.Sleep(999 * time.Millisecond)
		send(2, 4)
		time.Sleep(time.Millisecond)
		send(3, 6) // only the encoder with ages encodes again
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

// TestCachedTablesDoNotAllocate: sending a Table that another stream has encoded allocates nothing.
func TestCachedTablesDoNotAllocate(t *testing.T) {
	st, _ := tableStream(t, clock{})
	st.w = discard{}
	e := change("7")
	st.event(e)
	if n := testing.AllocsPerRun(100, func() { st.event(e) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestEncodersShareTheCache: the cache holds the encodings of the same changes by two encoders.
func TestEncodersShareTheCache(t *testing.T) {
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
			tables.sendShared(added, v)
			binary.sendShared(added, v)
		}
	}
	// Keys that hash to the same slot replace each other, so a few objects are encoded again.
	if encoded := count(t, tables.streams.metrics.cache.encoded); encoded > 2*changes+8 {
		t.Errorf("two encoders encoded %d changes %v times", changes, encoded)
	}
}
