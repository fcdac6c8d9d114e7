package h2

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// Each measured server runs in a process of its own, so that the CPU time of the process is the
// server's.
const (
	envServe  = "QUORATE_H2_SERVE"
	serveOurs = "ours"
	serveStd  = "nethttp"

	getBytes   = 1536
	eventBytes = 1331
	listBytes  = 16 << 20
)

// benchHandler serves the requests of the benchmarks.
type benchHandler struct {
	mu       sync.Mutex
	event    chan struct{} // closed by the next event
	watching atomic.Int64
	object   []byte
	chunk    []byte
}

func (h *benchHandler) next() chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.event
}

func (h *benchHandler) fire() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.event)
	h.event = make(chan struct{})
}

func (h *benchHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/get":
		hd := w.Header()
		hd["Audit-Id"] = []string{"0123456789abcdef-12"}
		hd["Cache-Control"] = []string{"no-cache, private"}
		hd["Content-Type"] = []string{"application/json"}
		_, _ = w.Write(h.object[:getBytes])
	case "/post":
		b, _ := io.ReadAll(r.Body)
		_, _ = w.Write(b)
	case "/list":
		for range listBytes / len(h.chunk) {
			_, _ = w.Write(h.chunk)
		}
	case "/watch":
		h.watch(w, r)
	case "/fire":
		h.fire()
	case "/watching":
		fmt.Fprint(w, h.watching.Load())
	case "/cpu":
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		fmt.Fprint(w, u.Utime.Nano()+u.Stime.Nano())
	}
}

func (h *benchHandler) watch(w http.ResponseWriter, r *http.Request) {
	rc := http.NewResponseController(w)
	next := h.next()
	h.watching.Add(1)
	defer h.watching.Add(-1)
	_ = rc.Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-next:
		}
		next = h.next()
		_, _ = w.Write(h.object[:26])
		_, _ = w.Write(h.object[:eventBytes-28])
		_, _ = w.Write(h.object[:2])
		if rc.Flush() != nil {
			return
		}
	}
}

// serveBenchmark is the main function of the child process.
func serveBenchmark(which string) error {
	certs := httptest.NewUnstartedServer(nil)
	certs.StartTLS()
	conf := certs.TLS.Clone()
	certs.Close()
	conf.NextProtos = []string{"h2", "http/1.1"}
	conf.DynamicRecordSizingDisabled = true // as in Configure
	srv := &http.Server{
		Handler:   &benchHandler{event: make(chan struct{}), object: bytes.Repeat([]byte("x"), 4096), chunk: make([]byte, 64<<10)},
		TLSConfig: conf,
		HTTP2:     &http.HTTP2Config{MaxConcurrentStreams: 1000},
	}
	if which == serveOurs {
		if err := Configure(srv, Options{}); err != nil {
			return err
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // until the parent ends
		os.Exit(0)
	}()
	return srv.ServeTLS(l, "", "")
}

// child is a process with a measured server.
type child struct {
	addr string
	http *http.Client
}

func startChild(b *testing.B, which string) *child {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envServe+"="+which)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	c := &child{addr: strings.TrimSpace(line)}
	c.http = c.client(b)
	return c
}

func (c *child) client(b *testing.B) *http.Client {
	tr := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
	b.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func (c *child) number(b *testing.B, path string) int64 {
	b.Helper()
	_, body := get(b, c.http, "https://"+c.addr+path)
	n, err := strconv.ParseInt(body, 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// report reports the child's CPU time per operation and percentiles of the operations' latency.
func (c *child) report(b *testing.B, cpu int64, n int, took []time.Duration) {
	b.ReportMetric(float64(c.number(b, "/cpu")-cpu)/float64(n)/1000, "cpu-µs/op")
	slices.Sort(took)
	if len(took) > 0 {
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
		b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "op/s")
	b.ReportMetric(0, "ns/op")
}

func each(b *testing.B, run func(b *testing.B, c *child)) {
	for _, which := range []string{serveStd, serveOurs} {
		b.Run(which, func(b *testing.B) { run(b, startChild(b, which)) })
	}
}

// BenchmarkGet measures GETs by 32 clients over 4 connections.
func BenchmarkGet(b *testing.B) {
	each(b, func(b *testing.B, c *child) { c.requests(b, "/get", nil) })
}

// BenchmarkPost measures POSTs by as many clients.
func BenchmarkPost(b *testing.B) {
	each(b, func(b *testing.B, c *child) { c.requests(b, "/post", make([]byte, 1024)) })
}

func (c *child) requests(b *testing.B, path string, body []byte) {
	const conns, workers = 4, 32
	clients := make([]*http.Client, conns)
	for i := range clients {
		clients[i] = c.client(b)
		get(b, clients[i], "https://"+c.addr+"/get")
	}
	cpu := c.number(b, "/cpu")
	b.ResetTimer()
	took := make([][]time.Duration, workers)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			for range b.N / workers {
				begin := time.Now()
				method := http.MethodGet
				if body != nil {
					method = http.MethodPost
				}
				req, _ := http.NewRequest(method, "https://"+c.addr+path, bytes.NewReader(body))
				resp, err := clients[i%conns].Do(req)
				if err != nil {
					b.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				took[i] = append(took[i], time.Since(begin))
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	c.report(b, cpu, b.N/workers*workers, slices.Concat(took...))
}

// BenchmarkList measures streamed bodies of 16 MB, one at a time.
func BenchmarkList(b *testing.B) {
	each(b, func(b *testing.B, c *child) {
		r := dialRaw(b, c.addr, nil)
		cpu := c.number(b, "/cpu")
		b.ResetTimer()
		for b.Loop() {
			id := r.get("/list", true)
			for got := 0; got < listBytes; {
				if f, ok := r.read().(*http2.DataFrame); ok && f.StreamID == id {
					got += len(f.Data())
				}
			}
		}
		b.StopTimer()
		c.report(b, cpu, b.N, nil)
	})
}

// BenchmarkWatch measures 1,000 streams over 20 connections. An operation is one event on one
// stream.
func BenchmarkWatch(b *testing.B) {
	const conns, streams = 20, 50
	each(b, func(b *testing.B, c *child) {
		var got [conns]atomic.Int64
		for i := range conns {
			r := dialRaw(b, c.addr, nil)
			for range streams {
				r.get("/watch", true)
			}
			go func() {
				for {
					f, err := r.fr.ReadFrame()
					if err != nil {
						return
					}
					if f, ok := f.(*http2.DataFrame); ok {
						got[i].Add(int64(len(f.Data())))
					}
				}
			}()
		}
		for c.number(b, "/watching") < conns*streams {
		}
		total := func() (n int64) {
			for i := range got {
				n += got[i].Load()
			}
			return n
		}
		cpu := c.number(b, "/cpu")
		b.ResetTimer()
		var took []time.Duration
		for n := int64(1); b.Loop(); n++ {
			begin := time.Now()
			get(b, c.http, "https://"+c.addr+"/fire")
			for total() < n*conns*streams*eventBytes {
				// Poll: waking up for each frame would cost CPU in the client.
				time.Sleep(100 * time.Microsecond)
			}
			took = append(took, time.Since(begin))
		}
		b.StopTimer()
		c.report(b, cpu, b.N*conns*streams, took)
	})
}
