package client_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"quorate/chaos/client"
)

// peer is a TLS server that speaks HTTP/2 just as far as a test lets it, frame by frame.
type peer struct {
	t        *testing.T
	listener net.Listener
	ca       []byte
	serving  sync.WaitGroup

	mu       sync.Mutex // guards all below
	open     []net.Conn
	accepted int
	headers  int // requests whose headers came
	bodies   int // requests that came whole
}

// behaviour is what a peer does with a connection after the settings have been exchanged; the
// connection ends with it.
type behaviour func(c *wire)

// newPeer listens and does what behave says with every connection. Nothing is accepted when it is
// nil: connections hang.
func newPeer(t *testing.T, behave behaviour) *peer {
	t.Helper()
	certificate, ca := issue(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, listener: listener, ca: ca}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12}
	if behave != nil {
		p.serving.Go(func() { p.accept(config, behave) })
	}
	t.Cleanup(func() {
		listener.Close()
		p.mu.Lock()
		for _, c := range p.open {
			c.Close()
		}
		p.mu.Unlock()
		p.serving.Wait()
	})
	return p
}

func (p *peer) accept(config *tls.Config, behave behaviour) {
	for {
		raw, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		p.open = append(p.open, raw)
		p.accepted++
		p.mu.Unlock()
		p.serving.Go(func() {
			defer raw.Close()
			conn := tls.Server(raw, config)
			defer conn.Close()
			preface := make([]byte, len(http2.ClientPreface))
			if _, err := readFull(conn, preface); err != nil {
				return
			}
			w := &wire{peer: p, conn: conn, Framer: http2.NewFramer(conn, conn)}
			w.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
			if w.WriteSettings() == nil {
				behave(w)
			}
		})
	}
}

func readFull(conn net.Conn, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = conn.Read(p[n:])
		n += m
	}
	return n, err
}

// counts returns how many connections were made, how many requests began to arrive, and how many
// came whole.
func (p *peer) counts() (accepted, headers, bodies int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accepted, p.headers, p.bodies
}

// client returns a client of the peer that ends with the test.
func (p *peer) client() *client.Client {
	p.t.Helper()
	c, err := client.New("https://"+p.listener.Addr().String(), client.Credentials{CA: p.ca, Token: "t"})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(c.Close)
	return c
}

// wire is one connection of a peer.
type wire struct {
	*http2.Framer
	peer *peer
	conn *tls.Conn
}

// request reads until a request has come whole, or only its headers, and returns its stream; 0 when
// the connection is gone.
func (w *wire) request(whole bool) uint32 {
	for {
		frame, err := w.ReadFrame()
		if err != nil {
			return 0
		}
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				_ = w.WriteSettingsAck() // a connection that is gone ends the next read
			}
		case *http2.PingFrame:
			if !f.IsAck() {
				_ = w.WritePing(true, f.Data)
			}
		case *http2.MetaHeadersFrame:
			w.peer.count(&w.peer.headers)
			if f.StreamEnded() {
				w.peer.count(&w.peer.bodies)
			}
			if f.StreamEnded() || !whole {
				return f.StreamID
			}
		case *http2.DataFrame:
			if f.StreamEnded() {
				w.peer.count(&w.peer.bodies)
				return f.StreamID
			}
		}
	}
}

func (p *peer) count(what *int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*what++
}

// answer sends a whole answer.
func (w *wire) answer(stream uint32, status, body string) {
	w.begin(stream, status, body)
	_ = w.WriteData(stream, true, nil)
}

// begin sends the beginning of an answer.
func (w *wire) begin(stream uint32, status, body string) {
	w.beginAs(stream, status, client.JSON, body)
}

// beginAs is begin for a body of a content type.
func (w *wire) beginAs(stream uint32, status, contentType, body string) {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	_ = encoder.WriteField(hpack.HeaderField{Name: ":status", Value: status}) // to memory
	_ = encoder.WriteField(hpack.HeaderField{Name: "content-type", Value: contentType})
	_ = w.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndHeaders: true})
	_ = w.WriteData(stream, false, []byte(body))
}

// drain reads until the client has closed the connection, so that what was written isn't lost with
// a reset.
func (w *wire) drain() {
	_ = w.conn.CloseWrite()
	for {
		if _, err := w.ReadFrame(); err != nil {
			return
		}
	}
}

// issue makes a certificate for 127.0.0.1 that is its own authority.
func issue(t *testing.T) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
