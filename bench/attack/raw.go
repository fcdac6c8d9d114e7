package main

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"quorate/bench/solo"
)

// raw is a client of HTTP/2 that sends what no library would.
type raw struct {
	host  string
	token string
	conn  *tls.Conn
	fr    *http2.Framer
	enc   *hpack.Encoder
	block bytes.Buffer
	next  uint32 // id of the next stream

	mu    sync.Mutex
	codes map[string]int // of the responses, and of the streams that were reset
	done  chan struct{}  // closed when the server has closed the connection
}

// dialRaw opens a connection whose streams begin with a window for responses.
func dialRaw(server, user string, window uint32) (*raw, error) {
	r := &raw{host: strings.TrimPrefix(server, "https://"), next: 1, codes: map[string]int{}, done: make(chan struct{})}
	if user != "" {
		r.token = solo.Token(user)
	}
	var err error
	r.conn, err = tls.Dial("tcp", r.host, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		return nil, err
	}
	r.fr = http2.NewFramer(r.conn, r.conn)
	r.fr.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	r.enc = hpack.NewEncoder(&r.block)
	r.enc.SetMaxDynamicTableSize(0)
	if _, err := io.WriteString(r.conn, http2.ClientPreface); err != nil {
		return nil, err
	}
	if err := r.fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window}); err != nil {
		return nil, err
	}
	if err := r.fr.WriteWindowUpdate(0, 1<<31-1-65535); err != nil {
		return nil, err
	}
	go r.read()
	return r, nil
}

// read counts responses until the connection ends.
func (r *raw) read() {
	defer close(r.done)
	for {
		f, err := r.fr.ReadFrame()
		if err != nil {
			return
		}
		switch f := f.(type) {
		case *http2.MetaHeadersFrame:
			r.count(f.PseudoValue("status"))
		case *http2.RSTStreamFrame:
			r.count("reset")
		case *http2.GoAwayFrame:
			r.count("goaway " + f.ErrCode.String())
		}
	}
}

func (r *raw) count(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.codes[what]++
}

// addTo adds what the client got to the counts of several.
func (r *raw) addTo(codes map[string]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for what, n := range r.codes {
		codes[what] += n
	}
}

// answered returns the number of responses.
func (r *raw) answered() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, of := range r.codes {
		n += of
	}
	return n
}

// get sends a GET with further header fields.
func (r *raw) get(path string, fields ...hpack.HeaderField) error {
	return r.send(http.MethodGet, path, true, fields)
}

// send sends the header of a request. Unless end is set, a body follows.
func (r *raw) send(method, path string, end bool, fields []hpack.HeaderField) error {
	r.block.Reset()
	all := []hpack.HeaderField{
		{Name: ":method", Value: method}, {Name: ":scheme", Value: "https"},
		{Name: ":authority", Value: r.host}, {Name: ":path", Value: path},
	}
	if r.token != "" {
		all = append(all, hpack.HeaderField{Name: "authorization", Value: "Bearer " + r.token})
	}
	for _, f := range append(all, fields...) {
		if err := r.enc.WriteField(f); err != nil {
			return fmt.Errorf("encode a header: %w", err)
		}
	}
	const frame = 16 << 10
	block := r.block.Bytes()
	first := block[:min(len(block), frame)]
	block = block[len(first):]
	err := r.fr.WriteHeaders(http2.HeadersFrameParam{
		StreamID: r.next, BlockFragment: first, EndStream: end, EndHeaders: len(block) == 0,
	})
	for err == nil && len(block) > 0 {
		part := block[:min(len(block), frame)]
		block = block[len(part):]
		err = r.fr.WriteContinuation(r.next, len(block) == 0, part)
	}
	r.next += 2
	return err
}
