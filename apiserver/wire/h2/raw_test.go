package h2

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// raw is a client that can send any frames, valid or not.
type raw struct {
	t      testing.TB
	nc     net.Conn
	fr     *http2.Framer
	block  bytes.Buffer
	enc    *hpack.Encoder
	dec    *hpack.Decoder
	nextID uint32
}

// dialRaw connects and handshakes, with windows that never shut.
func dialRaw(t testing.TB, addr string, roots *x509.CertPool) *raw {
	t.Helper()
	r := dialTLS(t, addr, roots)
	r.handshake(http2.Setting{ID: http2.SettingInitialWindowSize, Val: maxWindow})
	r.must(r.fr.WriteWindowUpdate(0, maxWindow-firstWindow))
	return r
}

// dialTLS connects and sends nothing.
func dialTLS(t testing.TB, addr string, roots *x509.CertPool) *raw {
	t.Helper()
	conf := &tls.Config{RootCAs: roots, ServerName: "example.com", NextProtos: []string{"h2"}, InsecureSkipVerify: roots == nil}
	nc, err := tls.Dial("tcp", addr, conf)
	if err != nil {
		t.Fatal(err)
	}
	return newRaw(t, nc)
}

func newRaw(t testing.TB, nc net.Conn) *raw {
	t.Cleanup(func() { _ = nc.Close() })
	r := &raw{t: t, nc: nc, fr: http2.NewFramer(nc, nc), nextID: 1}
	r.fr.AllowIllegalWrites = true
	r.fr.SetReuseFrames()
	r.enc = hpack.NewEncoder(&r.block)
	r.must(nc.SetDeadline(time.Now().Add(time.Minute)))
	return r
}

func (r *raw) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// handshake sends the preface and the first SETTINGS frame.
func (r *raw) handshake(settings ...http2.Setting) {
	r.t.Helper()
	_, err := r.nc.Write([]byte(http2.ClientPreface))
	r.must(err)
	r.must(r.fr.WriteSettings(settings...))
}

// encode returns the header block of pairs of names and values.
func (r *raw) encode(pairs ...string) []byte {
	r.block.Reset()
	for i := 0; i < len(pairs); i += 2 {
		r.must(r.enc.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]}))
	}
	return bytes.Clone(r.block.Bytes())
}

func (r *raw) newID() uint32 {
	id := r.nextID
	r.nextID += 2
	return id
}

// get sends a GET request and returns its stream.
func (r *raw) get(path string, end bool) uint32 {
	r.t.Helper()
	id := r.newID()
	r.headers(id, end, ":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", path)
	return id
}

func (r *raw) headers(id uint32, end bool, pairs ...string) {
	r.t.Helper()
	r.must(r.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: r.encode(pairs...), EndHeaders: true, EndStream: end}))
}

// read returns the next frame.
func (r *raw) read() http2.Frame {
	r.t.Helper()
	f, err := r.fr.ReadFrame()
	r.must(err)
	return f
}

// result is what the server has sent on a stream.
type result struct {
	status, body string
	fields       map[string]string
	reset        http2.ErrCode
	wasReset     bool
}

// await reads frames until a stream has ended and returns its result.
func (r *raw) await(id uint32) result {
	r.t.Helper()
	a := result{fields: make(map[string]string)}
	for {
		switch f := r.read().(type) {
		case *http2.HeadersFrame:
			fields, err := r.decoder().DecodeFull(f.HeaderBlockFragment())
			r.must(err)
			if f.StreamID != id {
				continue
			}
			for _, hf := range fields {
				a.fields[hf.Name] = hf.Value
			}
			a.status = a.fields[":status"]
			if f.StreamEnded() {
				return a
			}
		case *http2.DataFrame:
			if f.StreamID == id {
				a.body += string(f.Data())
				if f.StreamEnded() {
					return a
				}
			}
		case *http2.RSTStreamFrame:
			if f.StreamID == id {
				a.reset, a.wasReset = f.ErrCode, true
				return a
			}
		case *http2.GoAwayFrame:
			if f.ErrCode != http2.ErrCodeNo {
				r.t.Fatalf("connection ended: %v", f.ErrCode)
			}
		}
	}
}

// nextData returns the data of the next DATA frame of a stream.
func (r *raw) nextData(id uint32) []byte {
	r.t.Helper()
	for {
		if f, ok := r.read().(*http2.DataFrame); ok && f.StreamID == id {
			return f.Data()
		}
	}
}

func (r *raw) decoder() *hpack.Decoder {
	if r.dec == nil {
		r.dec = hpack.NewDecoder(4096, nil)
	}
	return r.dec
}

// wantReset expects a stream to be reset.
func (r *raw) wantReset(id uint32, code http2.ErrCode) {
	r.t.Helper()
	if a := r.await(id); !a.wasReset || a.reset != code {
		r.t.Errorf("stream %d: %+v, want a reset with %v", id, a, code)
	}
}

// wantEnd expects GOAWAY with a code and then the end of the connection.
func (r *raw) wantEnd(code http2.ErrCode) {
	r.t.Helper()
	goAway := false
	for {
		f, err := r.fr.ReadFrame()
		if err != nil {
			if ne, ok := err.(net.Error); ok && ne.Timeout() {
				r.t.Fatal("connection is not closed")
			}
			break
		}
		if f, ok := f.(*http2.GoAwayFrame); ok {
			goAway = true
			if f.ErrCode != code {
				r.t.Errorf("ended with %v, want %v", f.ErrCode, code)
			}
		}
	}
	if !goAway {
		r.t.Errorf("closed without GOAWAY")
	}
}

// wantServed expects the connection to serve another request.
func (r *raw) wantServed() {
	r.t.Helper()
	if a := r.await(r.get("/", true)); a.status != "200" {
		r.t.Errorf("next request: %+v", a)
	}
}
