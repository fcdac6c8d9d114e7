package apiserver_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/internal/testserver"
)

const (
	attackers    = 300
	attackTerms  = 500
	attackMemory = 100 << 20
)

// hugeSelector returns a label selector of 60 KB that every object without labels matches, so that
// all of its terms are evaluated. Selectors of different numbers differ.
func hugeSelector(number, terms int) string {
	var b strings.Builder
	for i := range terms {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "!%0.53d.example.com/%05d-%05d-%030d", 0, number, i, 0)
	}
	return b.String()
}

// rawWatches opens watches on one HTTP/2 connection and keeps nothing of their requests.
type rawWatches struct {
	t    testing.TB
	conn net.Conn
	fr   *http2.Framer
	enc  *hpack.Encoder
	head bytes.Buffer
	host string
	next uint32

	began atomic.Int64 // streams whose response has begun
	data  atomic.Int64 // bytes of DATA frames
}

func dialWatches(t testing.TB, s *testserver.Server) *rawWatches {
	t.Helper()
	host := strings.TrimPrefix(s.URL, "https://")
	roots := s.Client.Transport.(*http.Transport).TLSClientConfig.RootCAs
	conn, err := tls.Dial("tcp", host, &tls.Config{RootCAs: roots, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	w := &rawWatches{t: t, conn: conn, fr: http2.NewFramer(conn, conn), host: host, next: 1}
	w.enc = hpack.NewEncoder(&w.head)
	w.enc.SetMaxDynamicTableSize(0)
	w.must(io.WriteString(conn, http2.ClientPreface))
	w.check(w.fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1<<31 - 1}))
	w.check(w.fr.WriteWindowUpdate(0, 1<<31-1-65535))
	go w.read()
	return w
}

func (w *rawWatches) must(_ int, err error) { w.t.Helper(); w.check(err) }

func (w *rawWatches) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// read ends with the connection.
func (w *rawWatches) read() {
	for {
		f, err := w.fr.ReadFrame()
		if err != nil {
			return
		}
		switch f := f.(type) {
		case *http2.HeadersFrame:
			w.began.Add(1)
		case *http2.DataFrame:
			w.data.Add(int64(f.Length))
		}
	}
}

func (w *rawWatches) close() { w.check(w.conn.Close()) }

func (w *rawWatches) open(path, token string) {
	w.t.Helper()
	w.head.Reset()
	for _, f := range [][2]string{
		{":method", "GET"}, {":scheme", "https"}, {":authority", w.host}, {":path", path}, {"authorization", "Bearer " + token},
	} {
		w.check(w.enc.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}))
	}
	block := w.head.Bytes()
	first := block[:min(len(block), 16<<10)]
	block = block[len(first):]
	w.check(w.fr.WriteHeaders(http2.HeadersFrameParam{
		StreamID: w.next, BlockFragment: first, EndStream: true, EndHeaders: len(block) == 0,
	}))
	for len(block) > 0 {
		n := min(len(block), 16<<10)
		w.check(w.fr.WriteContinuation(w.next, n == len(block), block[:n]))
		block = block[n:]
	}
	w.next += 2
}

// openAll opens a watch for each selector and waits until all have begun.
func (w *rawWatches) openAll(s *testserver.Server, selectorOf func(i int) string) {
	w.t.Helper()
	want := w.began.Load() + attackers
	for i := range attackers {
		path := "/api/v1/configmaps?watch=1&labelSelector=" + url.QueryEscape(selectorOf(i))
		w.open(strings.ReplaceAll(path, "%21", "!"), s.Token)
	}
	s.Eventually("all watches have begun", func() bool { return w.began.Load() >= want })
}

func liveHeap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestHugeSelectors: watches with selectors of the largest permitted size take little memory, which
// they give back when they end, and equal ones share theirs.
func TestHugeSelectors(t *testing.T) {
	s := testserver.Start(t, nil)
	tooMany := url.QueryEscape(strings.Repeat("a,", attackTerms) + "a")
	if a := s.Do("GET", "/api/v1/configmaps?labelSelector="+tooMany, ""); a.Code != 400 || !strings.Contains(a.Body, "501 terms") {
		t.Errorf("a selector of 501 terms: %d %s", a.Code, a.Body)
	}
	before := liveHeap()
	w := dialWatches(t, s)
	w.openAll(s, func(i int) string { return hugeSelector(i, attackTerms) })
	grown := liveHeap() - before
	t.Logf("%d watches with different selectors of %d bytes: %d KiB grown", attackers, len(hugeSelector(1, attackTerms)), grown>>10)
	if grown > attackMemory {
		t.Errorf("%d watches with different selectors: %d bytes grown, want at most %d", attackers, grown, attackMemory)
	}
	w.openAll(s, func(i int) string { return hugeSelector(attackers+i, attackTerms) })
	if grown := liveHeap() - before; grown > attackMemory {
		t.Errorf("%d watches with different selectors: %d bytes grown, want at most %d", 2*attackers, grown, attackMemory)
	}
	if n := metricOf(t, s, `quorate_apiserver_limit_hits_total{limit="selector-bytes-per-user"}`); n == 0 {
		t.Error("no watch was refused for the memory of its selector")
	}
	short := "/api/v1/configmaps?watch=1&timeoutSeconds=1&labelSelector=mine"
	other := s.IssueToken("other", auth.MastersGroup)
	if a := s.Do("GET", short, "", "Authorization: Bearer "+other); a.Code != 200 {
		t.Errorf("a watch of another user: %d %s", a.Code, a.Body)
	}
	a := s.Do("GET", "/api/v1/configmaps?watch=1&labelSelector="+url.QueryEscape(hugeSelector(9998, attackTerms)), "")
	if a.Code != 429 || a.Header.Get("Retry-After") != "1" || !strings.Contains(a.Body, "selector-bytes") {
		t.Errorf("one more watch of this user: %d %s", a.Code, a.Body)
	}
	different := metricOf(t, s, "quorate_apiserver_watch_selector_bytes")
	s.Token = other
	same := dialWatches(t, s)
	same.openAll(s, func(int) string { return hugeSelector(9999, attackTerms) })
	if one := metricOf(t, s, "quorate_apiserver_watch_selector_bytes") - different; one > 128<<10 {
		t.Errorf("%d watches with one selector hold %v bytes, want those of one", attackers, one)
	}
	w.close()
	same.close()
	s.Eventually("the memory of all selectors is given back", func() bool {
		return metricOf(t, s, "quorate_apiserver_watch_selector_bytes") == 0
	})
}

func metricOf(t testing.TB, s *testserver.Server, name string) float64 {
	t.Helper()
	for line := range strings.Lines(s.Do("GET", "/metrics", "").Body) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

func cpuTime(t testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkCreateUnderSelectors reports the processor time of a create while 300 watches with large
// selectors follow the resource, and without selectors.
func BenchmarkCreateUnderSelectors(b *testing.B) {
	for _, terms := range []int{0, 1, attackTerms} {
		b.Run(fmt.Sprint(terms), func(b *testing.B) {
			s := testserver.Start(b, nil)
			w := dialWatches(b, s)
			w.openAll(s, func(i int) string { return hugeSelector(i, terms) })
			began, i := cpuTime(b), 0
			for b.Loop() {
				body := fmt.Sprintf(`{"metadata":{"name":"m%d"}}`, i)
				if a := s.Do("POST", "/api/v1/namespaces/default/configmaps", body); a.Code != 201 && a.Code != 200 {
					b.Fatal(a)
				}
				i++
			}
			b.ReportMetric(float64((cpuTime(b)-began).Microseconds())/float64(i), "cpu-µs/create")
		})
	}
}
