package h2

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2"
)

// onHeaders begins a request, or ends one with trailers.
func (c *conn) onHeaders(f *http2.HeadersFrame) error {
	id, end, selfDependent := f.StreamID, f.StreamEnded(), f.HasPriority() && f.Priority.StreamDep == f.StreamID
	if err := c.in.decode(f); err != nil {
		return err
	}
	if id%2 == 0 {
		return protocolFault("even stream id")
	}
	trailers, err := c.placeOf(id, end)
	if trailers || err != nil {
		return err
	}
	h := &c.in.head
	if h.bad == "" && !h.over {
		h.check()
	}
	if selfDependent {
		h.bad = dependsOnItself
	}
	if h.bad != "" {
		return &streamFault{id, http2.ErrCodeProtocol, h.bad}
	}
	return c.begin(id, end)
}

// placeOf finds what a header block is for: a new request, or one that is open, whose end it is then.
func (c *conn) placeOf(id uint32, end bool) (trailers bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id > c.streams.last {
		c.streams.last = id
		c.opened++
		return false, nil
	}
	st := c.streams.open[id]
	if st == nil {
		known, byUs := c.streams.recall(id)
		switch {
		case byUs:
			return true, nil // it was on its way when we closed
		case known:
			return true, &connFault{code: http2.ErrCodeStreamClosed, why: "HEADERS after the stream's end"}
		}
		return true, protocolFault("stream ids went down")
	}
	h := &c.in.head
	switch {
	case st.gotEnd:
		return true, &streamFault{id, http2.ErrCodeStreamClosed, "HEADERS after the stream's end"}
	case !end || h.seen != 0 || h.bad != "":
		return true, &streamFault{id, http2.ErrCodeProtocol, "malformed trailers"}
	}
	return true, c.came(st, nil, 0, true)
}

// check holds a request against RFC 9113 §8.3.1.
func (h *requestHead) check() {
	if h.method == "" || !validMethod(h.method) {
		h.bad = "no method"
		return
	}
	if h.method == http.MethodConnect {
		if h.seen != pseudoMethod|pseudoAuthority || h.authority == "" {
			h.bad = "malformed CONNECT"
		}
		return
	}
	switch {
	case h.scheme != "https" && h.scheme != "http":
		h.bad = "no scheme"
	case h.path == "" || h.path[0] != '/' && (h.path != "*" || h.method != http.MethodOptions):
		h.bad = "no path"
	case strings.IndexByte(h.authority, '@') >= 0 || !httpguts.ValidHostHeader(h.authority):
		h.bad = "malformed authority"
	}
}

func validMethod(m string) bool {
	switch m {
	case http.MethodGet, http.MethodPut, http.MethodPost, http.MethodPatch, http.MethodDelete:
		return true
	}
	return httpguts.ValidHeaderFieldName(m) // both are tokens
}

// begin starts the handler of a request, unless there are too many.
func (c *conn) begin(id uint32, end bool) error {
	h := &c.in.head
	st := &stream{conn: c, id: id, gotEnd: end}
	st.changed.L = &c.mu
	if err := c.newRequest(st, h); err != nil {
		return err
	}
	st.response.init(st)
	handler := c.handler
	if h.over {
		c.server.metrics.hit(limitHeaderList)
		handler = http.HandlerFunc(headerListTooLong)
	}
	started, err := c.admit(st)
	if !started {
		st.cancel()
		return err
	}
	c.server.metrics.requests.Inc()
	go st.run(handler)
	return nil
}

// admit opens a stream, or refuses it.
func (c *conn) admit(st *stream) (bool, error) {
	b, m := &c.server.bounds, c.server.metrics
	c.mu.Lock()
	defer c.mu.Unlock()
	refused := &streamFault{st.id, http2.ErrCodeRefusedStream, "not served"}
	switch {
	case c.phase >= draining:
		return false, c.breakStream(nil, refused)
	case len(c.streams.open) >= b.maxStreams:
		m.hit(limitStreams)
		return false, c.breakStream(nil, refused)
	case c.running >= b.maxHandlers:
		m.hit(limitHandlers)
		return false, c.breakStream(nil, refused)
	}
	st.window = c.streams.window
	c.streams.open[st.id] = st
	c.running++
	c.handlers.Add(1)
	return true, nil
}

// headerListTooLong answers as net/http does.
func headerListTooLong(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusRequestHeaderFieldsTooLarge)
	// The client may be gone; there is no one else to tell.
	_, _ = io.WriteString(w, "<h1>HTTP Error 431</h1><p>Request Header Field(s) Too Large</p>")
}

// newRequest makes the request of a header block, and the context that ends with it.
func (c *conn) newRequest(st *stream, h *requestHead) error {
	malformed := func(why string) error { return &streamFault{st.id, http2.ErrCodeProtocol, why} }
	header := h.header()
	if !h.takeHost(header) {
		return malformed("host differs from authority")
	}
	target, u := h.target()
	if u == nil {
		return malformed("malformed path")
	}
	length, ok := announcedLength(header["Content-Length"], st.gotEnd)
	if !ok {
		return malformed("content-length wrong")
	}
	ctx, cancel := context.WithCancel(c.template.Context())
	r := c.template.WithContext(ctx)
	r.Method, r.URL, r.Header, r.Host, r.RequestURI = h.method, u, header, h.authority, target
	if h.scheme != "https" {
		r.TLS = nil // as net/http has it
	}
	r.ContentLength, r.Body = length, http.NoBody
	st.body.announced = length
	if !st.gotEnd {
		size := c.server.bounds.streamWindow
		st.body.window = newWindow(size, size/2)
		st.body.awaited = expectsContinue(header)
		r.Body = requestBody{st}
	} else {
		st.body.err = io.EOF
	}
	st.req, st.cancel = r, cancel
	return nil
}

// takeHost moves Host out of the header, as net/http does; false when it contradicts the authority.
func (h *requestHead) takeHost(header http.Header) bool {
	hosts := header["Host"]
	if len(hosts) == 0 {
		return true
	}
	if len(hosts) > 1 || h.authority != "" && !strings.EqualFold(h.authority, hosts[0]) {
		return false
	}
	h.authority = hosts[0]
	delete(header, "Host")
	return true
}

// target returns the RequestURI and the URL, nil when it is malformed.
func (h *requestHead) target() (string, *url.URL) {
	switch {
	case h.over: // all that is known is that there was too much of it
		return "", &url.URL{}
	case h.method == http.MethodConnect:
		return h.authority, &url.URL{Host: h.authority} // as in HTTP/1
	}
	u, err := url.ParseRequestURI(h.path)
	if err != nil {
		return "", nil
	}
	return h.path, u
}

// header makes the map of the regular fields.
func (h *requestHead) header() http.Header {
	m := make(http.Header, len(h.fields))
	values := make([]string, len(h.fields))
	for i, f := range h.fields {
		if have, ok := m[f.name]; ok {
			m[f.name] = append(have, f.value)
			continue
		}
		values[i] = f.value
		m[f.name] = values[i : i+1 : i+1]
	}
	if cookies := m["Cookie"]; len(cookies) > 1 {
		m["Cookie"] = []string{strings.Join(cookies, "; ")} // RFC 9113 §8.2.3
	}
	delete(m, "Trailer") // trailers are not handed on
	return m
}

// announcedLength returns the length of a body, -1 for unknown.
func announcedLength(values []string, end bool) (n int64, ok bool) {
	if len(values) == 0 {
		if end {
			return 0, true
		}
		return -1, true
	}
	for _, v := range values[1:] {
		if v != values[0] {
			return 0, false
		}
	}
	u, err := strconv.ParseUint(values[0], 10, 63)
	if err != nil || end && u != 0 {
		return 0, false
	}
	return int64(u), true
}

func expectsContinue(header http.Header) bool {
	if !httpguts.HeaderValuesContainsToken(header["Expect"], "100-continue") {
		return false
	}
	delete(header, "Expect")
	return true
}
