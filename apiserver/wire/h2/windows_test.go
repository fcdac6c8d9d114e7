package h2

import (
	"io"
	"net/http"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// windowPatience is how long these tests wait for a frame. If the server fails to credit a window,
// no frame follows.
const windowPatience = 5 * time.Second

// nextFrame returns the next frame. If none arrives, it fails the test, naming the missing frame.
func (r *raw) nextFrame(missing string, args ...any) http2.Frame {
	r.t.Helper()
	r.must(r.nc.SetReadDeadline(time.Now().Add(windowPatience)))
	f, err := r.fr.ReadFrame()
	if err != nil {
		r.t.Fatalf("%v, waiting for "+missing, append([]any{err}, args...)...)
	}
	return f
}

// TestConnectionWindowInSteps: streams with large windows continue whenever the connection's window
// opens.
func TestConnectionWindowInSteps(t *testing.T) {
	t.Parallel()
	const size, step = firstWindow + 20_000, 1000
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, size)) }))
	for _, streams := range []int{1, 3} {
		r := dialTLS(t, s.addr, s.roots)
		r.handshake(http2.Setting{ID: http2.SettingInitialWindowSize, Val: maxWindow})
		for range streams {
			r.get("/", true)
		}
		for got, open, ended := 0, firstWindow, 0; ended < streams; {
			if got == open && got < streams*size {
				r.must(r.fr.WriteWindowUpdate(0, step))
				open += step
			}
			f, ok := r.nextFrame("data of %d streams: %d bytes came, the connection's window is open for %d", streams, got, open).(*http2.DataFrame)
			if !ok {
				continue
			}
			got += len(f.Data())
			if f.StreamEnded() {
				ended++
			}
		}
	}
}

// TestSettingsAreAcknowledgedFirst: the acknowledgement of settings that open a window precedes the
// data that waited for the window.
func TestSettingsAreAcknowledgedFirst(t *testing.T) {
	t.Parallel()
	s := start(t, basicHandler())
	r := dialTLS(t, s.addr, s.roots)
	r.handshake(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	id := r.get("/", true)
	for acknowledged, header := false, false; !acknowledged || !header; {
		switch f := r.nextFrame("the acknowledgement of the first settings and the response header").(type) {
		case *http2.SettingsFrame:
			acknowledged = acknowledged || f.IsAck()
		case *http2.HeadersFrame:
			header = true
		}
	}
	r.must(r.fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1}))
	next := r.nextFrame("the acknowledgement")
	if f, ok := next.(*http2.SettingsFrame); !ok || !f.IsAck() {
		t.Fatalf("the first frame is %v, want the acknowledgement", next.Header())
	}
	if data := r.nextData(id); len(data) != 1 {
		t.Errorf("%d bytes fit into a window of 1", len(data))
	}
}

// upload is a client that keeps to flow control.
type upload struct {
	*raw
	conn    int // window of the connection
	streams map[uint32]int
	ended   map[uint32]bool // the server has ended or reset them
}

func newUpload(t *testing.T, s *testServer) *upload {
	u := &upload{raw: dialTLS(t, s.addr, s.roots), conn: firstWindow, streams: map[uint32]int{}, ended: map[uint32]bool{}}
	u.handshake()
	return u
}

// open begins a request with a body and returns its stream.
func (u *upload) open() uint32 {
	id := u.get("/", false)
	u.streams[id] = defaultStreamWindow
	return id
}

// untilTrue reads frames until the condition holds. missing names what the test waits for.
func (u *upload) untilTrue(is func() bool, missing string, args ...any) {
	u.t.Helper()
	for !is() {
		switch f := u.nextFrame(missing, args...).(type) {
		case *http2.WindowUpdateFrame:
			if f.StreamID == 0 {
				u.conn += int(f.Increment)
			} else {
				u.streams[f.StreamID] += int(f.Increment)
			}
		case *http2.RSTStreamFrame:
			u.ended[f.StreamID] = true
		case *http2.GoAwayFrame:
			u.t.Fatalf("the server ends the connection: %v %s", f.ErrCode, f.DebugData())
		}
	}
}

// send sends a DATA frame once both windows have room for it.
func (u *upload) send(id uint32, data, padding int) {
	u.t.Helper()
	n, pad := data, []byte(nil)
	if padding > 0 {
		n, pad = data+padding+1, make([]byte, padding) // plus the byte of the padding's length
	}
	u.reserve(id, n)
	u.must(u.fr.WriteDataPadded(id, false, make([]byte, data), pad))
}

// reserve waits until both windows have room for n bytes, and takes it.
func (u *upload) reserve(id uint32, n int) {
	u.t.Helper()
	u.untilTrue(func() bool { return u.conn >= n }, "room in the connection's window, which has %d bytes left", u.conn)
	u.untilTrue(func() bool { return u.streams[id] >= n || u.ended[id] }, "room in the stream's window, which has %d bytes left", u.streams[id])
	u.conn, u.streams[id] = u.conn-n, u.streams[id]-n
}

// TestPaddingIsCredited: the server credits padding, which no handler reads, to both windows.
func TestPaddingIsCredited(t *testing.T) {
	t.Parallel()
	s := start(t, basicHandler())
	u := newUpload(t, s)
	id := u.open()
	frames := 0
	for sent := 0; sent < defaultConnWindow+defaultStreamWindow; sent += 256 {
		u.send(id, 1, 255)
		frames++
	}
	u.must(u.fr.WriteData(id, true, nil))
	if a := u.await(id); a.status != "200" || len(a.body) == 0 {
		t.Errorf("after %d frames: %+v", frames, a)
	}
}

// TestUnreadBodiesAreCredited: the server credits bodies that handlers do not read, or close, to
// the connection's window.
func TestUnreadBodiesAreCredited(t *testing.T) {
	t.Parallel()
	const size = 64 << 10
	for name, handle := range map[string]func(r *http.Request){
		"returned": func(*http.Request) {},
		"closed":   func(r *http.Request) { _ = r.Body.Close() },
		"panicked": func(*http.Request) { panic(http.ErrAbortHandler) },
		"partly_read": func(r *http.Request) {
			_, _ = io.ReadFull(r.Body, make([]byte, size/2))
			_ = r.Body.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proceed := make(chan struct{})
			s := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				<-proceed
				handle(r)
			}))
			u := newUpload(t, s)
			for sent := 0; sent < 2*defaultConnWindow; sent += size {
				id := u.open()
				for range size / maxFrameBytes {
					u.send(id, maxFrameBytes, 0)
				}
				proceed <- struct{}{} // the body has arrived; the handler does not read it
				u.untilTrue(func() bool { return u.ended[id] }, "the end of a stream whose body is not read, after %d bytes", sent)
			}
		})
	}
}

// TestBodiesOfWrongLengthAreCredited: data that makes a body longer or shorter than its
// content-length resets the stream, and the server credits it to the connection's window.
func TestBodiesOfWrongLengthAreCredited(t *testing.T) {
	t.Parallel()
	for name, contentLength := range map[string]int{"longer": maxFrameBytes - 1, "shorter": maxFrameBytes + 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, basicHandler())
			u := newUpload(t, s)
			for sent := 0; sent < 2*defaultConnWindow; sent += maxFrameBytes {
				id := u.post(contentLength)
				u.reserve(id, maxFrameBytes)
				u.must(u.fr.WriteData(id, true, make([]byte, maxFrameBytes)))
				u.untilTrue(func() bool { return u.ended[id] }, "the reset of a stream with a wrong content-length, after %d bytes", sent)
			}
		})
	}
}
