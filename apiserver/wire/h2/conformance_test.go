package h2

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/http2"
)

// basicHandler responds with the length of the body after it has read it, on "/ten" with ten bytes.
// On "/hang" it waits until the request is cancelled.
func basicHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			<-r.Context().Done()
			return
		}
		b, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		if r.URL.Path == "/ten" {
			_, _ = io.WriteString(w, "ten bytes.")
			return
		}
		fmt.Fprintf(w, "%d", len(b))
	})
}

// rule is a rule of RFC 9113 that a server must enforce, with a client that breaks it and the
// expected reaction.
type rule struct {
	name  string
	do    func(r *raw) uint32 // breaks the rule on the stream that it returns
	reset http2.ErrCode       // expected RST_STREAM, unless end is set
	end   http2.ErrCode       // expected GOAWAY
	fine  bool                // the server must ignore it
}

const none = http2.ErrCodeNo

func TestRules(t *testing.T) {
	s := start(t, basicHandler())
	for _, rules := range [][]rule{frameRules(), stateRules(), windowRules(), headerRules()} {
		for _, rule := range rules {
			t.Run(strings.ReplaceAll(rule.name, " ", "_"), func(t *testing.T) {
				t.Parallel()
				r := dialRaw(t, s.addr, s.roots)
				id := rule.do(r)
				switch {
				case rule.end != none:
					r.wantEnd(rule.end)
				case rule.reset != none:
					r.wantReset(id, rule.reset)
					r.wantServed()
				default:
					r.wantServed()
				}
			})
		}
	}
}

func frameRules() []rule {
	frame := func(kind http2.FrameType, flags http2.Flags, id uint32, payload string) func(*raw) uint32 {
		return func(r *raw) uint32 {
			r.must(r.fr.WriteRawFrame(kind, flags, id, []byte(payload)))
			return id
		}
	}
	onHang := func(kind http2.FrameType, flags http2.Flags, payload string) func(*raw) uint32 {
		return func(r *raw) uint32 {
			id := r.get("/hang", false)
			r.must(r.fr.WriteRawFrame(kind, flags, id, []byte(payload)))
			return id
		}
	}
	large := strings.Repeat("x", maxFrameBytes+1)
	return []rule{
		{name: "4.1 unknown frame type", do: frame(0x77, 0, 0, "abc"), fine: true},
		{name: "4.1 unknown flags", do: frame(http2.FramePing, 0xfe, 0, "12345678"), fine: true},
		{name: "4.2 too large DATA", do: onHang(http2.FrameData, 0, large), end: http2.ErrCodeFrameSize},
		{name: "4.2 too large SETTINGS", do: frame(http2.FrameSettings, 0, 0, large), end: http2.ErrCodeFrameSize},
		{name: "4.3 undecodable block", do: frame(http2.FrameHeaders, 5, 1, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
			end: http2.ErrCodeCompression},
		{name: "4.3 table size too large", do: frame(http2.FrameHeaders, 5, 1, "\x3f\xe1\xff\x03"), end: http2.ErrCodeCompression},
		{name: "6.1 DATA on stream 0", do: frame(http2.FrameData, 0, 0, "x"), end: http2.ErrCodeProtocol},
		{name: "6.1 padding too long", do: onHang(http2.FrameData, http2.FlagDataPadded, "\x09x"), end: http2.ErrCodeProtocol},
		{name: "6.2 HEADERS on stream 0", do: frame(http2.FrameHeaders, 5, 0, ""), end: http2.ErrCodeProtocol},
		{name: "6.2 padding too long", do: frame(http2.FrameHeaders, 0xd, 1, "\x09x"), end: http2.ErrCodeProtocol},
		{name: "6.3 PRIORITY on stream 0", do: frame(http2.FramePriority, 0, 0, "12345"), end: http2.ErrCodeProtocol},
		{name: "6.3 PRIORITY of a wrong size", do: frame(http2.FramePriority, 0, 1, "1234"), end: http2.ErrCodeFrameSize},
		{name: "6.3 PRIORITY on an idle stream", do: frame(http2.FramePriority, 0, 9, "12345"), fine: true},
		{name: "6.3 PRIORITY on itself", do: onHang(http2.FramePriority, 0, "\x00\x00\x00\x01\x00"), reset: http2.ErrCodeProtocol},
		{name: "6.3 PRIORITY on itself while idle", do: frame(http2.FramePriority, 0, 9, "\x00\x00\x00\x09\x00"), end: http2.ErrCodeProtocol},
		{name: "6.4 RST_STREAM on stream 0", do: frame(http2.FrameRSTStream, 0, 0, "1234"), end: http2.ErrCodeProtocol},
		{name: "6.4 RST_STREAM on an idle stream", do: frame(http2.FrameRSTStream, 0, 7, "1234"), end: http2.ErrCodeProtocol},
		{name: "6.4 RST_STREAM of a wrong size", do: onHang(http2.FrameRSTStream, 0, "123"), end: http2.ErrCodeFrameSize},
		{name: "6.5 SETTINGS ack with payload", do: frame(http2.FrameSettings, 1, 0, "123456"), end: http2.ErrCodeFrameSize},
		{name: "6.5 SETTINGS on a stream", do: frame(http2.FrameSettings, 0, 1, ""), end: http2.ErrCodeProtocol},
		{name: "6.5 SETTINGS of a wrong size", do: frame(http2.FrameSettings, 0, 0, "12345"), end: http2.ErrCodeFrameSize},
		{name: "6.5.2 ENABLE_PUSH of 2", do: frame(http2.FrameSettings, 0, 0, "\x00\x02\x00\x00\x00\x02"), end: http2.ErrCodeProtocol},
		{name: "6.5.2 window too large", do: frame(http2.FrameSettings, 0, 0, "\x00\x04\x80\x00\x00\x00"), end: http2.ErrCodeFlowControl},
		{name: "6.5.2 frame size too small", do: frame(http2.FrameSettings, 0, 0, "\x00\x05\x00\x00\x3f\xff"), end: http2.ErrCodeProtocol},
		{name: "6.5.2 frame size too large", do: frame(http2.FrameSettings, 0, 0, "\x00\x05\x01\x00\x00\x00"), end: http2.ErrCodeProtocol},
		{name: "6.5.2 unknown setting", do: frame(http2.FrameSettings, 0, 0, "\x77\x77\x01\x00\x00\x00"), fine: true},
		{name: "6.6 PUSH_PROMISE", do: onHang(http2.FramePushPromise, 4, "\x00\x00\x00\x02"), end: http2.ErrCodeProtocol},
		{name: "6.7 PING on a stream", do: frame(http2.FramePing, 0, 1, "12345678"), end: http2.ErrCodeProtocol},
		{name: "6.7 PING of a wrong size", do: frame(http2.FramePing, 0, 0, "1234567"), end: http2.ErrCodeFrameSize},
		{name: "6.7 unsolicited PING ack", do: frame(http2.FramePing, 1, 0, "12345678"), fine: true},
		{name: "6.8 GOAWAY on a stream", do: frame(http2.FrameGoAway, 0, 1, "12345678"), end: http2.ErrCodeProtocol},
		{name: "6.9 WINDOW_UPDATE of 0", do: frame(http2.FrameWindowUpdate, 0, 0, "\x00\x00\x00\x00"), end: http2.ErrCodeProtocol},
		{name: "6.9 WINDOW_UPDATE of 0 on a stream", do: onHang(http2.FrameWindowUpdate, 0, "\x00\x00\x00\x00"), reset: http2.ErrCodeProtocol},
		{name: "6.9 WINDOW_UPDATE of a wrong size", do: frame(http2.FrameWindowUpdate, 0, 0, "123"), end: http2.ErrCodeFrameSize},
		{name: "6.10 CONTINUATION alone", do: onHang(http2.FrameContinuation, 4, ""), end: http2.ErrCodeProtocol},
	}
}

func stateRules() []rule {
	return []rule{
		{name: "5.1 idle DATA", end: http2.ErrCodeProtocol, do: func(r *raw) uint32 {
			r.must(r.fr.WriteData(1, true, []byte("x")))
			return 1
		}},
		{name: "5.1 idle WINDOW_UPDATE", end: http2.ErrCodeProtocol, do: func(r *raw) uint32 {
			r.must(r.fr.WriteWindowUpdate(1, 1))
			return 1
		}},
		{name: "6.2 HEADERS depending on itself", reset: http2.ErrCodeProtocol, do: func(r *raw) uint32 {
			id := r.newID()
			r.must(r.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: id, EndHeaders: true, EndStream: true,
				BlockFragment: r.encode(":method", "GET", ":scheme", "https", ":path", "/"),
				Priority:      http2.PriorityParam{StreamDep: id, Weight: 15}}))
			return id
		}},
		{name: "5.1 half-closed DATA", reset: http2.ErrCodeStreamClosed, do: func(r *raw) uint32 {
			id := r.get("/hang", true)
			r.must(r.fr.WriteData(id, true, []byte("x")))
			return id
		}},
		{name: "5.1 half-closed HEADERS", reset: http2.ErrCodeStreamClosed, do: func(r *raw) uint32 {
			id := r.get("/hang", true)
			r.headers(id, true, "a", "b")
			return id
		}},
		{name: "5.1 half-closed PRIORITY and WINDOW_UPDATE", fine: true, do: func(r *raw) uint32 {
			id := r.get("/hang", true)
			r.must(r.fr.WritePriority(id, http2.PriorityParam{}))
			r.must(r.fr.WriteWindowUpdate(id, 1))
			return id
		}},
		{name: "5.1 closed by reset DATA", reset: http2.ErrCodeStreamClosed, do: func(r *raw) uint32 {
			id := r.get("/hang", false)
			r.must(r.fr.WriteRSTStream(id, http2.ErrCodeCancel))
			r.must(r.fr.WriteData(id, true, []byte("x")))
			return id
		}},
		{name: "5.1 closed by reset HEADERS", end: http2.ErrCodeStreamClosed, do: func(r *raw) uint32 {
			id := r.get("/hang", true)
			r.must(r.fr.WriteRSTStream(id, http2.ErrCodeCancel))
			r.headers(id, true, ":method", "GET", ":scheme", "https", ":path", "/")
			return id
		}},
		{name: "5.1 closed DATA", reset: http2.ErrCodeStreamClosed, do: func(r *raw) uint32 {
			id := r.get("/", true)
			r.await(id)
			r.must(r.fr.WriteData(id, true, []byte("x")))
			return id
		}},
		{name: "5.1 closed WINDOW_UPDATE and RST_STREAM", fine: true, do: func(r *raw) uint32 {
			id := r.get("/", true)
			r.await(id)
			r.must(r.fr.WriteWindowUpdate(id, 1))
			r.must(r.fr.WriteRSTStream(id, http2.ErrCodeCancel))
			return id
		}},
		{name: "5.1.1 even stream id", end: http2.ErrCodeProtocol, do: func(r *raw) uint32 {
			r.headers(2, true, ":method", "GET", ":scheme", "https", ":path", "/")
			return 2
		}},
		{name: "5.1.1 stream ids go down", end: http2.ErrCodeProtocol, do: func(r *raw) uint32 {
			r.headers(5, true, ":method", "GET", ":scheme", "https", ":path", "/hang")
			r.headers(3, true, ":method", "GET", ":scheme", "https", ":path", "/hang")
			return 3
		}},
		{name: "5.4.1 streams above one skipped", fine: true, do: func(r *raw) uint32 {
			r.nextID = 101
			return 0
		}},
		{name: "6.2 block interrupted", end: http2.ErrCodeProtocol, do: func(r *raw) uint32 {
			block := r.encode(":method", "GET", ":scheme", "https", ":path", "/")
			r.must(r.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block[:1]}))
			r.must(r.fr.WritePing(false, [8]byte{}))
			return 1
		}},
		{name: "6.10 CONTINUATION of another stream", end: http2.ErrCodeProtocol, do: func(r *raw) uint32 {
			block := r.encode(":method", "GET", ":scheme", "https", ":path", "/")
			r.must(r.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block[:1]}))
			r.must(r.fr.WriteContinuation(3, true, block[1:]))
			return 1
		}},
	}
}

func windowRules() []rule {
	fill := strings.Repeat("x", maxFrameBytes)
	return []rule{
		{name: "6.9.1 connection window too large", end: http2.ErrCodeFlowControl, do: func(r *raw) uint32 {
			r.must(r.fr.WriteWindowUpdate(0, maxWindow))
			return 0
		}},
		{name: "6.9.1 stream window too large", reset: http2.ErrCodeFlowControl, do: func(r *raw) uint32 {
			id := r.get("/hang", false)
			r.must(r.fr.WriteWindowUpdate(id, maxWindow))
			return id
		}},
		{name: "6.9.2 setting makes a window too large", end: http2.ErrCodeFlowControl, do: func(r *raw) uint32 {
			r.must(r.fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: firstWindow}))
			id := r.get("/hang", false)
			r.must(r.fr.WriteWindowUpdate(id, maxWindow-firstWindow))
			r.must(r.fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: firstWindow + 1}))
			return id
		}},
		{name: "6.5.3 repeated setting", fine: true, do: func(r *raw) uint32 {
			r.must(r.fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 100},
				http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1}))
			id := r.get("/ten", true)
			if n := len(r.nextData(id)); n != 1 {
				r.t.Errorf("a first frame of %d bytes, want 1: the last value of the setting", n)
			}
			r.must(r.fr.WriteWindowUpdate(id, 9))
			r.await(id)
			return id
		}},
		{name: "6.9 more than the stream's window", reset: http2.ErrCodeFlowControl, do: func(r *raw) uint32 {
			id := r.get("/hang", false)
			for range defaultStreamWindow/maxFrameBytes + 1 {
				r.must(r.fr.WriteData(id, false, []byte(fill)))
			}
			return id
		}},
		{name: "6.9 more than the connection's window", end: http2.ErrCodeFlowControl, do: func(r *raw) uint32 {
			for range defaultConnWindow / defaultStreamWindow {
				id := r.get("/hang", false)
				for range defaultStreamWindow / maxFrameBytes {
					r.must(r.fr.WriteData(id, false, []byte(fill)))
				}
			}
			r.must(r.fr.WriteData(r.get("/hang", false), false, []byte("x")))
			return 0
		}},
	}
}

func headerRules() []rule {
	get := []string{":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/hang"}
	// bad is a request that must be refused as malformed.
	bad := func(name string, pairs ...string) rule {
		return rule{name: name, reset: http2.ErrCodeProtocol, do: func(r *raw) uint32 {
			id := r.newID()
			r.headers(id, true, pairs...)
			return id
		}}
	}
	with := func(more ...string) []string { return append(get[:len(get):len(get)], more...) }
	rules := []rule{
		bad("8.2.1 uppercase name", with("X-Bad", "v")...),
		bad("8.2.1 space in a name", with("x bad", "v")...),
		bad("8.2.1 empty name", with("", "v")...),
		bad("8.2.1 line feed in a value", with("x", "a\nb")...),
		bad("8.2.1 nul in a value", with("x", "a\x00b")...),
		bad("8.2.2 connection", with("connection", "close")...),
		bad("8.2.2 keep-alive", with("keep-alive", "1")...),
		bad("8.2.2 proxy-connection", with("proxy-connection", "close")...),
		bad("8.2.2 transfer-encoding", with("transfer-encoding", "chunked")...),
		bad("8.2.2 upgrade", with("upgrade", "h2c")...),
		bad("8.2.2 te", with("te", "gzip")...),
		bad("8.3 unknown pseudo-header", with(":test", "x")...),
		bad("8.3 response pseudo-header", with(":status", "200")...),
		bad("8.3 pseudo-header after a field", append([]string{"a", "b"}, get...)...),
		bad("8.3.1 no method", get[2:]...),
		bad("8.3.1 method not a token", append([]string{":method", "GE T"}, get[2:]...)...),
		bad("8.3.1 no scheme", ":method", "GET", ":path", "/"),
		bad("8.3.1 no path", get[:6]...),
		bad("8.3.1 empty path", append(get[:6:6], ":path", "")...),
		bad("8.3.1 path without slash", append(get[:6:6], ":path", "hang")...),
		bad("8.3.1 malformed path", append(get[:6:6], ":path", "/%zz")...),
		bad("8.3.1 asterisk with GET", append(get[:6:6], ":path", "*")...),
		bad("8.3.1 two paths", with(":path", "/")...),
		bad("8.3.1 two methods", with(":method", "GET")...),
		bad("8.3.1 two schemes", with(":scheme", "https")...),
		bad("8.3.1 userinfo", ":method", "GET", ":scheme", "https", ":authority", "u@example.com", ":path", "/"),
		bad("8.3.1 host differs", with("host", "other.example.com")...),
		bad("8.5 CONNECT with a path", ":method", "CONNECT", ":authority", "x:1", ":path", "/"),
		bad("8.5 CONNECT without authority", ":method", "CONNECT"),
		bad("8.1.1 length of a body that is none", with("content-length", "1")...),
		bad("8.1.1 length not a number", with("content-length", "x")...),
		bad("8.1.1 lengths differ", with("content-length", "0", "content-length", "1")...),
	}
	return append(rules, bodyRules(get)...)
}

func bodyRules(get []string) []rule {
	body := func(name, length string, pieces ...string) rule {
		return rule{name: name, reset: http2.ErrCodeProtocol, do: func(r *raw) uint32 {
			id := r.newID()
			r.headers(id, false, append(get[:len(get):len(get)], "content-length", length)...)
			for i, p := range pieces {
				r.must(r.fr.WriteData(id, i == len(pieces)-1, []byte(p)))
			}
			return id
		}}
	}
	trailers := func(name string, end bool, pairs ...string) rule {
		return rule{name: name, reset: http2.ErrCodeProtocol, do: func(r *raw) uint32 {
			id := r.newID()
			r.headers(id, false, get...)
			r.headers(id, end, pairs...)
			return id
		}}
	}
	return []rule{
		body("8.1.1 body too short", "5", "ab", "cd"),
		body("8.1.1 body too long", "3", "ab", "cd"),
		trailers("8.1 trailers without end", false, "a", "b"),
		trailers("8.1 pseudo-header in trailers", true, ":method", "GET"),
		{name: "8.1 trailers", fine: true, do: func(r *raw) uint32 {
			id := r.get("/", false)
			r.must(r.fr.WriteData(id, false, []byte("abc")))
			r.headers(id, true, "a", "b")
			if a := r.await(id); a.body != "3" {
				r.t.Errorf("%+v", a)
			}
			return id
		}},
		{name: "8.2.2 te trailers", fine: true, do: func(r *raw) uint32 {
			id := r.newID()
			r.headers(id, true, append(get[:6:6], ":path", "/", "te", "trailers")...)
			r.await(id)
			return id
		}},
		{name: "6.1 padding", fine: true, do: func(r *raw) uint32 {
			id := r.get("/", false)
			r.must(r.fr.WriteDataPadded(id, true, []byte("abc"), make([]byte, 200)))
			if a := r.await(id); a.body != "3" {
				r.t.Errorf("%+v", a)
			}
			return id
		}},
		{name: "6.10 block in many frames", fine: true, do: func(r *raw) uint32 {
			id := r.newID()
			block := r.encode(append(get[:6:6], ":path", "/", "x-long", strings.Repeat("y", 50))...)
			r.must(r.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block[:1], EndStream: true}))
			for ; len(block) > 5; block = block[4:] {
				r.must(r.fr.WriteContinuation(id, false, block[1:5]))
			}
			r.must(r.fr.WriteContinuation(id, true, block[1:]))
			if a := r.await(id); a.status != "200" {
				r.t.Errorf("%+v", a)
			}
			return id
		}},
	}
}

func TestHandshake(t *testing.T) {
	s := start(t, basicHandler())
	t.Run("bogus_preface_closes", func(t *testing.T) {
		r := dialTLS(t, s.addr, s.roots)
		_, err := r.nc.Write([]byte("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"))
		r.must(err)
		if _, err := io.Copy(io.Discard, r.nc); err != nil {
			t.Error(err)
		}
	})
	t.Run("first_frame_must_be_SETTINGS", func(t *testing.T) {
		r := dialTLS(t, s.addr, s.roots)
		_, err := r.nc.Write([]byte(http2.ClientPreface))
		r.must(err)
		r.get("/", true)
		r.wantEnd(http2.ErrCodeProtocol)
	})
	t.Run("settings_come_first_and_are_acknowledged", func(t *testing.T) {
		r := dialRaw(t, s.addr, s.roots)
		if f, ok := r.read().(*http2.SettingsFrame); !ok || f.IsAck() {
			t.Fatal("no settings")
		}
		for {
			if f, ok := r.read().(*http2.SettingsFrame); ok {
				if !f.IsAck() {
					t.Error("settings twice")
				}
				return
			}
		}
	})
}
