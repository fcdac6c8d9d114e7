package h2

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2"
)

// onHeaders starts the request of a header block, or ends an open request whose trailers the block
// contains.
func (c *conn) onHeaders(f *http2.HeadersFrame) error {
	id, end, selfDependent := f.StreamID, f.StreamEnded(), f.HasPriority() && f.Priority.StreamDep == f.StreamID
	if err := c.in.decode(f); err != nil {
		return err
	}
	if id%2 == 0 {
		return protocolFault("even stream id")
	}
	trailers, err := c.classifyHeaders(id, end)
	if trailers || err != nil {
		return err
	}
	h := &c.in.head
	if h.malformed == "" && !h.tooLarge {
		h.check()
	}
	if selfDependent {
		h.malformed = dependsOnItself
	}
	if h.malformed != "" {
		return &streamFault{id, http2.ErrCodeProtocol, h.malformed}
	}
	return c.startRequest(id, end)
}

// classifyHeaders reports whether a header block holds the trailers of an earlier request, which it
// ends, rather than a new request.
func (c *conn) classifyHeaders(id uint32, end bool) (trailers bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id > c.streams.last {
		c.streams.last = id
		c.opened++
		return false, nil
	}
	st := c.streams.open[id]
	if st == nil {
		known, byServer := c.streams.recallClosed(id)
		switch {
		case byServer:
			return true, nil // sent before the client knew that the server had closed the stream
		case known:
			return true, &connFault{code: http2.ErrCodeStreamClosed, why: "HEADERS after the stream's end"}
		}
		return true, protocolFault("stream ids went down")
	}
	h := &c.in.head
	switch {
	case st.receivedEnd:
		return true, &streamFault{id, http2.ErrCodeStreamClosed, "HEADERS after the stream's end"}
	case !end || h.seen != 0 || h.malformed != "":
		return true, &streamFault{id, http2.ErrCodeProtocol, "malformed trailers"}
	}
	return true, c.receive(st, nil, 0, true)
}

// check checks the pseudo-header fields of a request (RFC 9113 §8.3.1) and sets malformed.
func (h *requestHead) check() {
	if h.method == "" || !validMethod(h.method) {
		h.malformed = "no method"
		return
	}
	if h.method == http.MethodConnect {
		if h.seen != pseudoMethod|pseudoAuthority || h.authority == "" {
			h.malformed = "malformed CONNECT"
		}
		return
	}
	switch {
	case h.scheme != "https" && h.scheme != "http":
		h.malformed = "no scheme"
	case h.path == "" || h.path[0] != '/' && (h.path != "*" || h.method != http.MethodOptions):
		h.malformed = "no path"
	case strings.IndexByte(h.authority, '@') >= 0 || !httpguts.ValidHostHeader(h.authority):
		h.malformed = "malformed authority"
	}
}

func validMethod(m string) bool {
	switch m {
	case http.MethodGet, http.MethodPut, http.MethodPost, http.MethodPatch, http.MethodDelete:
		return true
	}
	return httpguts.ValidHeaderFieldName(m) // methods and field names are both tokens
}

// startRequest starts the handler of a request, or refuses the stream if too many are open.
func (c *conn) startRequest(id uint32, end bool) error {
	h := &c.in.head
	st := &stream{conn: c, id: id, receivedEnd: end}
	st.changed.L = &c.mu
	if err := c.newRequest(st, h); err != nil {
		return err
	}
	st.response.init(st)
	handler := c.handler
	if h.tooLarge {
		c.server.metrics.hit(limitHeaderList)
		handler = http.HandlerFunc(headerListTooLong)
	}
	started, err := c.admit(st)
	if !started {
		return err
	}
	if c.template.Context().Err() != nil {
		st.cancel() // cancelOpen may have run before the stream was open
	}
	c.server.metrics.requests.Inc()
	go st.run(handler)
	return nil
}

// admit opens a stream and reserves a handler for it. If the connection drains or a bound is hit,
// it refuses the stream with RST_STREAM and returns false.
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

// headerListTooLong is the handler of a request with too large a header. Its response is
// net/http's.
func headerListTooLong(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusRequestHeaderFieldsTooLarge)
	// An error means that the client is gone.
	_, _ = io.WriteString(w, "<h1>HTTP Error 431</h1><p>Request Header Field(s) Too Large</p>")
}

// newRequest sets the http.Request of a stream, with a context that ends with the stream, from a
// header block. It returns a streamFault if the block is malformed.
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
	length, ok := contentLength(header["Content-Length"], st.receivedEnd)
	if !ok {
		return malformed("content-length wrong")
	}
	st.ctx.Init(c.template.Context())
	r := c.template.WithContext(&st.ctx)
	r.Method, r.URL, r.Header, r.Host, r.RequestURI = h.method, u, header, h.authority, target
	if h.scheme != "https" {
		r.TLS = nil // as in net/http
	}
	r.ContentLength, r.Body = length, http.NoBody
	st.body.contentLength = length
	if !st.receivedEnd {
		size := c.server.bounds.streamWindow
		st.body.window = newWindow(size, size/2)
		st.body.continuePending = expectsContinue(header)
		r.Body = requestBody{st}
	} else {
		st.body.err = io.EOF
	}
	st.req = r
	return nil
}

// takeHost moves Host from the header to the authority, as net/http does. It returns false if the
// two differ.
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

// target returns the RequestURI and its URL, which is nil if the URI is malformed.
func (h *requestHead) target() (string, *url.URL) {
	switch {
	case h.tooLarge: // the path may be missing
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

// header returns the regular fields as an http.Header.
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
	delete(m, "Trailer") // handlers do not get the trailers
	return m
}

// contentLength returns the length of a body from the values of Content-Length, or -1 if it is
// unknown. end reports whether the request has no body. ok is false if the values are invalid.
func contentLength(values []string, end bool) (n int64, ok bool) {
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

// expectsContinue reports whether the client expects a 100 response, and removes Expect.
func expectsContinue(header http.Header) bool {
	if !httpguts.HeaderValuesContainsToken(header["Expect"], "100-continue") {
		return false
	}
	delete(header, "Expect")
	return true
}
