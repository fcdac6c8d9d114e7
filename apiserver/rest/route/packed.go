package route

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"

	"github.com/klauspost/compress/gzip"

	"quorate/apiserver/wire/negotiate"
)

// Packed is a compressed body, for documents that are sent often and do not change.
type Packed struct {
	gzip []byte
	size int
}

// Pack compresses a body.
func Pack(body []byte) (*Packed, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(body)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("compress a body: %w", err)
	}
	return &Packed{gzip: bytes.Clone(out.Bytes()), size: len(body)}, nil
}

// Text returns the uncompressed body.
func (p *Packed) Text() ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(p.gzip))
	if err != nil {
		return nil, fmt.Errorf("unpack a body: %w", err)
	}
	body := make([]byte, p.size)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, fmt.Errorf("unpack a body: %w", err)
	}
	return body, nil
}

// Packed responds with a body. If it is long enough and the client accepts gzip, it is sent
// compressed (B33).
func (c *Call) Packed(p *Packed, media string) error {
	if p.size <= gzipFrom || !negotiate.TakesGzip(c.R) {
		if err := c.hold(p.size); err != nil {
			return err
		}
		body, err := p.Text()
		if err != nil {
			return err
		}
		return c.answer(http.StatusOK, body, []string{media})
	}
	if err := c.limitWrite(); err != nil {
		return err
	}
	h := c.W.Header()
	h["Content-Type"], h["Content-Encoding"] = []string{media}, values.gzip
	h["Vary"] = slices.Concat(h["Vary"], values.vary)
	h.Set("Content-Length", strconv.Itoa(len(p.gzip)))
	c.Seat.Leave()
	c.W.WriteHeader(http.StatusOK)
	// A client that has disconnected is not an error of the server.
	_, _ = c.W.Write(p.gzip)
	return nil
}
