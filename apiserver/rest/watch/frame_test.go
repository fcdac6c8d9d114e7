package watch

import (
	"bytes"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/validation"
	"quorate/apiserver/wire/negotiate"
	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// testStream is a stream of ConfigMaps that writes into a buffer.
func testStream(t *testing.T, form negotiate.Form) (*Stream, *httptest.ResponseRecorder) {
	t.Helper()
	catalog, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	statuses, err := negotiate.NewStatuses(catalog)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	st := &Stream{
		streams: New(atMost(1), prometheus.NewRegistry()), w: w,
		opts: settings{
			Projection: Projection{Kind: catalog.Kind("/api/v1", "configmaps"), Form: form}, statuses: statuses,
			faults: faults(func(err error) { t.Errorf("internal error: %v", err) }),
		},
	}
	if form.Binary() {
		st.opts.Encoder = protobufEncoder{st.opts.Kind}
	}
	return st, w
}

func configMap(version string) []byte {
	return []byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m","namespace":"a","resourceVersion":"` + version +
		`","creationTimestamp":"2026-01-02T03:04:05Z"},"data":{"k":"v"}}`)
}

func change(version string) *history.Event {
	return &history.Event{Type: history.Added, Object: &state.Object{Key: state.NewKey("configmaps", "a", "m"), Value: configMap(version)}}
}

// Golden frames: a length and WatchEvent{1: type, 2: RawExtension{1: raw}}, with the envelope of
// B20 in raw.
const (
	goldenAdded = `
0000004d
0a05 4144444544
1244 0a42
6b387300 0a0f 0a027631 1209436f6e6669674d6170
1227
0a1d 0a016d 1200 1a0161 2200 2a00 320137 3800 4208 08a5ebdcca06 1000 7a00
1206 0a016b 120176
1a00 2200`
	goldenBookmark = `
0000003e
0a08 424f4f4b4d41524b
1232 0a30
6b387300 0a0f 0a027631 1209436f6e6669674d6170
1215
0a13 0a00 1200 1a00 2200 2a00 320139 3800 4200 7a00
1a00 2200`
	goldenError = `
000000de
0a05 4552524f52
12d401 0ad101
6b387300 0a0c 0a027631 1206537461747573
12b801
0a04 0a00 1200
12074661696c757265
1a8601 7468652077617463682063616e277420626520736572766564206e6f772c20706c656173652074727920616761696e206c617465723a20
       746865207365727665722069732063757272656e746c7920756e61626c6520746f2068616e646c652074686520726571756573743a20746865206e6f6465206973207368757474696e6720646f776e
220f 546f6f4d616e795265717565737473
2a0a 0a00 1200 1a00 2801 3200
30ad03
1a00 2200`
)

func TestProtobufFrames(t *testing.T) {
	t.Parallel()
	st, w := testStream(t, negotiate.Protobuf)
	for _, tc := range []struct {
		row    string
		send   func()
		golden string
	}{
		{"D5 ADDED", func() { st.event(change("7")) }, goldenAdded},
		{"D5 ADDED of the initial objects", func() { st.send(added, configMap("7")) }, goldenAdded},
		{"D25 BOOKMARK", func() { st.bookmark(9) }, goldenBookmark},
		{"D13 ERROR", func() { st.fail(raftstore.ErrClosed) }, goldenError},
	} {
		w.Body.Reset()
		tc.send()
		if err := st.flush(); err != nil {
			t.Fatal(err)
		}
		want, err := hex.DecodeString(strings.Join(strings.Fields(tc.golden), ""))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(w.Body.Bytes(), want) {
			t.Errorf("%s:\n got %x\nwant %x", tc.row, w.Body.Bytes(), want)
		}
	}
}

// TestUnencodableObjectEndsStream: a stream ends with an ERROR event when it cannot encode an
// object; it sends no frame of the object and no later event.
func TestUnencodableObjectEndsStream(t *testing.T) {
	t.Parallel()
	st, w := testStream(t, negotiate.Protobuf)
	reported := 0
	st.opts.faults = faults(func(error) { reported++ })
	bad := change("7")
	bad.Object.Value = []byte(`{"kind":"ConfigMap","data":7}`)
	st.event(bad)
	st.event(change("8"))
	err := st.flush()
	if err == nil || w.Body.Len() > 0 {
		t.Fatalf("error %v, %d bytes", err, w.Body.Len())
	}
	st.fail(err)
	if reported != 1 || !strings.Contains(w.Body.String(), "ERROR") {
		t.Errorf("%d errors reported, sent %q", reported, w.Body)
	}
}

// TestChangesAreEncodedOnce: all streams that send a change share one encoding, in both protobuf
// forms, and the cache of encodings is bounded.
func TestChangesAreEncodedOnce(t *testing.T) {
	t.Parallel()
	first, one := testStream(t, negotiate.Protobuf)
	second, two := testStream(t, negotiate.KubernetesProtobuf)
	second.streams, second.opts.Encoder = first.streams, first.opts.Encoder
	e := change("7")
	first.event(e)
	second.event(e)
	if !bytes.Equal(one.Body.Bytes(), two.Body.Bytes()) || one.Body.Len() == 0 {
		t.Errorf("sent %x and %x", one.Body, two.Body)
	}
	m := first.streams.metrics.cache
	if encoded, hits := count(t, m.encoded), count(t, m.hits); encoded != 1 || hits != 1 {
		t.Errorf("encoded %v times, reused %v times", encoded, hits)
	}
	big := change("8")
	big.Object.Value = bytes.Replace(big.Object.Value, []byte(`"v"`), []byte(`"`+strings.Repeat("x", 1<<20)+`"`), 1)
	for range 2 * maxCacheBytes >> 20 {
		first.event(&history.Event{Type: history.Added, Object: &state.Object{Key: big.Object.Key, Value: bytes.Clone(big.Object.Value)}})
	}
	if kept := first.streams.cache.bytes.Load(); kept > maxCacheBytes || kept < maxCacheBytes/2 {
		t.Errorf("%d bytes are kept", kept)
	}
	if count(t, m.full) == 0 {
		t.Error("the bound was not hit")
	}
}

// TestConcurrentStreamsSendEqualBytes: streams that encode the same changes concurrently send the
// same bytes.
func TestConcurrentStreamsSendEqualBytes(t *testing.T) {
	t.Parallel()
	const streams, changes = 4, 50
	st, _ := testStream(t, negotiate.Protobuf)
	values := make([][]byte, changes)
	for i := range values {
		values[i] = configMap(strconv.Itoa(i))
	}
	var sent [streams][]byte
	var group sync.WaitGroup
	for i := range streams {
		group.Go(func() {
			for _, v := range values {
				raw, err := st.streams.cache.encode(v, st.opts.Encoder, time.Time{})
				if err != nil {
					t.Error(err)
				}
				sent[i] = append(sent[i], raw...)
			}
		})
	}
	group.Wait()
	for i := range streams {
		if len(sent[i]) == 0 || !bytes.Equal(sent[i], sent[0]) {
			t.Errorf("stream %d sent %d bytes, another %d", i, len(sent[i]), len(sent[0]))
		}
	}
}

// count returns the value of a counter or gauge.
func count(t *testing.T, c prometheus.Counter) float64 {
	t.Helper()
	var m dto.Metric
	if err := c.Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetCounter().GetValue() + m.GetGauge().GetValue()
}

// TestJSONFramesDoNotAllocate: an event in JSON is the stored bytes between constant pieces, and
// sending it allocates nothing.
func TestJSONFramesDoNotAllocate(t *testing.T) {
	st, w := testStream(t, negotiate.JSON)
	e := change("7")
	st.event(e)
	if got, want := w.Body.String(), `{"type":"ADDED","object":`+string(e.Object.Value)+"}\n"; got != want {
		t.Errorf("D4: got %s, want %s", got, want)
	}
	st.w = discard{}
	if n := testing.AllocsPerRun(100, func() { st.event(e) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// discard is a response writer that discards its input.
type discard struct{ http.ResponseWriter }

func (discard) Write(p []byte) (int, error)       { return len(p), nil }
func (discard) WriteString(s string) (int, error) { return len(s), nil }

// TestCachedFramesDoNotAllocate: sending a change that another stream has encoded allocates
// nothing.
func TestCachedFramesDoNotAllocate(t *testing.T) {
	st, _ := testStream(t, negotiate.Protobuf)
	st.w = discard{}
	e := change("7")
	st.event(e)
	if n := testing.AllocsPerRun(100, func() { st.event(e) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
