package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
)

// eventReader yields the events of one watch stream.
type eventReader struct {
	br   *bufio.Reader
	line bool
	buf  []byte
}

func (r *eventReader) next() ([]byte, error) {
	if r.line {
		for {
			r.buf = r.buf[:0]
			for {
				s, err := r.br.ReadSlice('\n')
				if err == nil && len(r.buf) == 0 {
					r.buf = append(r.buf, s...)
					break
				}
				r.buf = append(r.buf, s...)
				if err == bufio.ErrBufferFull {
					continue
				}
				if err != nil {
					return nil, err
				}
				break
			}
			b := bytes.TrimSpace(r.buf)
			if len(b) > 0 {
				return b, nil
			}
		}
	}
	// Any sequence of JSON objects.
	r.buf = r.buf[:0]
	depth, inStr, esc := 0, false, false
	for {
		c, err := r.br.ReadByte()
		if err != nil {
			return nil, err
		}
		if depth == 0 && c != '{' {
			continue
		}
		r.buf = append(r.buf, c)
		switch {
		case inStr:
			switch {
			case esc:
				esc = false
			case c == '\\':
				esc = true
			case c == '"':
				inStr = false
			}
		case c == '"':
			inStr = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return r.buf, nil
			}
		}
	}
}

// openWatch starts a watch and returns after the response header has arrived.
func (e *env) openWatch(ctx context.Context, i int, ns, rv string) (*eventReader, io.Closer, error) {
	l := e.c.watch[i%len(e.c.watch)]
	r, err := e.c.newReq(ctx, l, "GET", e.watchPath(ns, rv), "", nil)
	if err != nil {
		return nil, nil, err
	}
	resp, err := l.rt.RoundTrip(r)
	if err != nil {
		return nil, nil, err
	}
	if resp.StatusCode/100 != 2 {
		b, _ := io.ReadAll(io.LimitReader(resp.Body, 300))
		resp.Body.Close()
		return nil, nil, &statusError{resp.StatusCode, string(b)}
	}
	return &eventReader{br: bufio.NewReaderSize(resp.Body, 16<<10), line: e.o.framing != "json"}, resp.Body, nil
}

func (e *env) listRV(ns string) (string, error) {
	w := e.c.worker(0)
	b, err := w.do(e.ctx, "GET", e.coll(ns)+"?limit=1", "", nil)
	if err != nil {
		return "", err
	}
	rv, _ := listMeta(b)
	if rv == "" {
		return "", errors.New("the list has no metadata.resourceVersion")
	}
	return rv, nil
}
