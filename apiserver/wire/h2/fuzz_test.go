package h2

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// FuzzConnection sends arbitrary bytes after the handshake. The connection must end with all of its
// goroutines, and no handler may panic.
func FuzzConnection(f *testing.F) {
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	for _, hf := range [][2]string{{":method", "POST"}, {":scheme", "https"}, {":path", "/"}, {"x", "y"}} {
		_ = enc.WriteField(hpack.HeaderField{Name: hf[0], Value: hf[1]})
	}
	seed := func(write func(fr *http2.Framer)) {
		var b bytes.Buffer
		fr := http2.NewFramer(&b, nil)
		fr.AllowIllegalWrites = true
		_ = fr.WriteSettings()
		write(fr)
		f.Add(b.Bytes())
	}
	headers := func(fr *http2.Framer, id uint32, end bool) {
		_ = fr.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: end})
	}
	seed(func(fr *http2.Framer) { headers(fr, 1, true) })
	seed(func(fr *http2.Framer) {
		headers(fr, 1, false)
		_ = fr.WriteData(1, false, []byte("abc"))
		_ = fr.WriteDataPadded(1, true, []byte("abc"), make([]byte, 5))
		_ = fr.WriteRSTStream(1, http2.ErrCodeCancel)
	})
	seed(func(fr *http2.Framer) {
		_ = fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1}, http2.Setting{ID: http2.SettingMaxFrameSize, Val: 20000})
		headers(fr, 1, true)
		_ = fr.WriteWindowUpdate(1, 100)
		_ = fr.WriteWindowUpdate(0, 100)
		_ = fr.WritePing(false, [8]byte{1})
		_ = fr.WriteGoAway(0, 0, nil)
		headers(fr, 3, false)
		headers(fr, 3, true)
	})
	seed(func(fr *http2.Framer) {
		_ = fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block.Bytes()[:3]})
		_ = fr.WriteContinuation(1, true, block.Bytes()[3:])
		_ = fr.WritePriority(1, http2.PriorityParam{})
	})
	f.Fuzz(func(t *testing.T, in []byte) {
		srv := &http.Server{MaxHeaderBytes: 4096, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 5}}
		s := &server{http: srv, bounds: newBounds(srv, Options{}), metrics: newMetrics(nil), conns: make(map[*conn]struct{})}
		srv.ErrorLog = nil
		ours, theirs := net.Pipe()
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Second))
			b, _ := io.ReadAll(r.Body)
			_, _ = w.Write(append(b, make([]byte, 20_000)...))
		})
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.serve(newConn(s, context.Background(), ours, nil, h))
		}()
		go func() { _, _ = io.Copy(io.Discard, theirs) }()
		// The server may close before it has read all of the input, which fails the write.
		_, _ = theirs.Write(append([]byte(http2.ClientPreface), in...))
		_ = theirs.Close()
		<-done
		if len(s.conns) != 0 {
			t.Error("the connection is still known")
		}
	})
}
