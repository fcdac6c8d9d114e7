package h2

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// reader is what the reading goroutine of a connection remembers between frames.
type reader struct {
	*conn
	decoder *hpack.Decoder
	status  int
	length  int   // of the body, as the headers say it; 0 if they don't
	ends    bool  // the stream, after these headers
	unacked int64 // bytes that the connection's window lacks
}

// read handles frames until the connection ends.
func (c *conn) read() {
	defer close(c.ended)
	r := reader{conn: c}
	r.decoder = hpack.NewDecoder(tableSize, r.field)
	for {
		f, err := c.frames.ReadFrame()
		if err == nil {
			err = r.handle(f)
		}
		if err != nil {
			c.fail(err)
			return
		}
	}
}

func (r *reader) field(f hpack.HeaderField) {
	switch f.Name {
	case ":status":
		r.status, _ = strconv.Atoi(f.Value) // 0 if it is none, which is no success
	case "content-length":
		r.length, _ = strconv.Atoi(f.Value) // a hint
	}
}

func (r *reader) handle(f http2.Frame) error {
	switch f := f.(type) {
	case *http2.HeadersFrame:
		r.ends = f.StreamEnded()
		return r.headers(f.StreamID, f.HeaderBlockFragment(), f.HeadersEnded())
	case *http2.ContinuationFrame:
		return r.headers(f.StreamID, f.HeaderBlockFragment(), f.HeadersEnded())
	case *http2.DataFrame:
		return r.data(f)
	case *http2.SettingsFrame:
		return r.settings(f)
	case *http2.PingFrame:
		if f.IsAck() {
			return nil
		}
		return r.writing(func() error { return r.frames.WritePing(true, f.Data) })
	case *http2.WindowUpdateFrame:
		r.grow(f.StreamID, int64(f.Increment))
	case *http2.RSTStreamFrame:
		err := errRefused
		if f.ErrCode != http2.ErrCodeRefusedStream {
			err = fmt.Errorf("stream error: %s", f.ErrCode)
		}
		r.mu.Lock()
		r.end(f.StreamID, err)
		r.mu.Unlock()
	case *http2.GoAwayFrame:
		r.goAway(f)
	}
	return nil
}

// headers handles a part of the headers of a response.
func (r *reader) headers(id uint32, block []byte, last bool) error {
	if _, err := r.decoder.Write(block); err != nil {
		return err
	}
	if !last {
		return nil
	}
	if err := r.decoder.Close(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if call := r.calls[id]; call != nil && call.Status < 200 { // interim responses precede, trailers follow
		call.Status, call.Began = r.status, time.Now()
		call.Body = slices.Grow(call.Body, min(r.length, largestHint))
	}
	r.status, r.length = 0, 0
	if r.ends {
		r.end(id, nil)
	}
	return nil
}

// largestHint bounds what a length in a header makes the client allocate.
const largestHint = 64 << 20

func (r *reader) data(f *http2.DataFrame) error {
	r.mu.Lock()
	if call := r.calls[f.StreamID]; call != nil {
		call.Body = append(call.Body, f.Data()...)
		if f.StreamEnded() {
			r.end(f.StreamID, nil)
		} else if len(call.Body) >= receiveWindow {
			r.mu.Unlock()
			return fmt.Errorf("a response of more than %d bytes", receiveWindow)
		}
	}
	r.mu.Unlock()
	r.unacked += int64(f.Length)
	if r.unacked < receiveWindow/2 {
		return nil
	}
	n := uint32(r.unacked)
	r.unacked = 0
	return r.writing(func() error { return r.frames.WriteWindowUpdate(0, n) })
}

func (r *reader) settings(f *http2.SettingsFrame) error {
	if f.IsAck() {
		return nil
	}
	table := uint32(tableSize)
	r.mu.Lock()
	err := f.ForeachSetting(func(s http2.Setting) error {
		switch s.ID {
		case http2.SettingHeaderTableSize:
			table = min(table, s.Val)
		case http2.SettingMaxConcurrentStreams:
			r.allowed = int(s.Val)
		case http2.SettingInitialWindowSize:
			for _, call := range r.calls {
				call.window += int64(s.Val) - r.initial
			}
			r.initial = int64(s.Val)
		case http2.SettingMaxFrameSize:
			r.maxFrame = int64(s.Val)
		}
		return s.Valid()
	})
	r.grown.Broadcast()
	r.mu.Unlock()
	if err != nil {
		return err
	}
	return r.writing(func() error {
		r.encoder.SetMaxDynamicTableSizeLimit(table)
		return r.frames.WriteSettingsAck()
	})
}

// grow makes a window larger: the connection's, or that of a stream.
func (r *reader) grow(id uint32, by int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if id == 0 {
		r.window += by
	} else if call := r.calls[id]; call != nil {
		call.window += by
	}
	r.grown.Broadcast()
}

// goAway ends the requests that the server will not respond to; the others may finish.
func (r *reader) goAway(f *http2.GoAwayFrame) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leaving = true
	if len(r.calls) == 0 {
		r.net.Close()
	}
	for id := range r.calls {
		if id > f.LastStreamID {
			r.end(id, errGoAway)
		}
	}
}
