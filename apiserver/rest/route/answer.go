package route

import (
	"net/http"
	"strconv"
	"time"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/wire/negotiate"
	"quorate/apiserver/wire/status"
)

const (
	// gzipFrom is the size from which a body may be compressed (semantics B33).
	gzipFrom = 128 << 10
	// smallBody is the size up to which net/http finds the length of a body by itself.
	smallBody = 2 << 10
	// slowBody is the size from which an answer may wait for its reader, and so gets a deadline.
	slowBody = 32 << 10
	// writeTimeout is how long a reader may take over one answer.
	writeTimeout = 60 * time.Second
)

// Header values are shared by all answers: net/http reads them only.
type headerValues struct {
	content, stream [negotiate.Forms][]string
	text            []string
	gzip, vary      []string
}

func newHeaderValues() headerValues {
	v := headerValues{
		text: []string{"text/plain; charset=utf-8"}, gzip: []string{"gzip"}, vary: []string{"Accept-Encoding"},
	}
	for f := range negotiate.Form(negotiate.Forms) {
		v.content[f], v.stream[f] = []string{f.ContentType()}, []string{f.StreamType()}
	}
	return v
}

// values is a compiled table.
var values = newHeaderValues()

// Form chooses the form of the answer.
func (c *Call) Form() (negotiate.Form, error) {
	// Every Status has a protobuf form, but only those come without an endpoint.
	protobuf := c.Endpoint == nil || c.Endpoint.hasProtobuf()
	form, _, err := c.Choose([]negotiate.Variant{negotiate.Own(protobuf)})
	return form, err
}

// Document answers with a document, compact JSON, in the form chosen: an object of the endpoint's
// kind, or one that has no protobuf form.
func (c *Call) Document(code int, document []byte, form negotiate.Form) error {
	return c.Object(code, c.Endpoint.Kind, document, form)
}

// Object answers with an object of a kind, compact JSON, in the form chosen.
func (c *Call) Object(code int, k *schema.Kind, document []byte, form negotiate.Form) error {
	var body []byte
	var err error
	if form.Binary() {
		body, err = negotiate.AppendProtobuf(nil, document, k)
	} else {
		body, err = negotiate.Encode(document, form)
	}
	if err != nil {
		return err
	}
	return c.answer(code, body, values.content[form])
}

// DocumentAs is Document for one without a protobuf form that was turned into a target, which the
// content type then names (L9).
func (c *Call) DocumentAs(target negotiate.Target, document []byte, form negotiate.Form) error {
	body, err := negotiate.Encode(document, form)
	if err != nil {
		return err
	}
	if target == (negotiate.Target{}) {
		return c.answer(http.StatusOK, body, values.content[form])
	}
	return c.answer(http.StatusOK, body, []string{form.ContentType() + target.Parameters()})
}

// Text answers with plain text, whatever the client would rather have: there is no other form of
// it.
func (c *Call) Text(body []byte) error { return c.answer(http.StatusOK, body, values.text) }

// Status answers with a Status in the form chosen (I32).
func (c *Call) Status(code int, s *status.Status, form negotiate.Form) error {
	body, err := c.Statuses.Encode(s, form)
	if err != nil {
		return err
	}
	return c.answer(code, body, values.content[form])
}

func (c *Call) answer(code int, body []byte, contentType []string) error {
	h := c.W.Header()
	h["Content-Type"] = contentType
	if len(body) > gzipFrom && negotiate.TakesGzip(c.R) {
		out := c.stream(contentType)
		out.code, out.Buf = code, body
		return out.Close()
	}
	if len(body) > smallBody {
		c.length[0] = strconv.Itoa(len(body))
		h["Content-Length"] = c.length[:]
	}
	if len(body) > slowBody {
		if err := c.limitWrite(); err != nil {
			return err
		}
	}
	c.W.WriteHeader(code)
	// A client that has disconnected is not an error of the server.
	_, _ = c.W.Write(body)
	return nil
}

// StreamHeader sets the header of a watch stream and sends it, so that the client knows at once
// that it watches (D1). It removes the deadline of answers: package watch ends the streams whose
// client takes nothing.
func (c *Call) StreamHeader(form negotiate.Form) error {
	c.W.Header()["Content-Type"] = values.stream[form]
	rc := http.NewResponseController(c.W)
	if err := rc.SetWriteDeadline(time.Time{}); err != nil {
		return err
	}
	c.W.WriteHeader(http.StatusOK)
	return rc.Flush()
}

// limitWrite bounds how long the reader may take over the rest of the answer.
func (c *Call) limitWrite() error {
	return http.NewResponseController(c.W).SetWriteDeadline(time.Now().Add(writeTimeout))
}
