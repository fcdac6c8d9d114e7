package route

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"quorate/apiserver/access/budget"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/wire/negotiate"
	"quorate/apiserver/wire/status"
)

const (
	// gzipFrom is the minimum size of a body that is compressed (semantics B33).
	gzipFrom = 128 << 10
	// smallBody is the size up to which net/http sets the Content-Length itself.
	smallBody = 2 << 10
	// slowBody is the minimum size of a body whose write gets a deadline, because it may block.
	slowBody = 32 << 10
	// smallAnswer is the size up to which a handler need not wait for its client.
	smallAnswer = 16 << 10
	// writeTimeout is the maximum time that a client may take to read a response.
	writeTimeout = 60 * time.Second
)

// headerValues are header values that all responses share. net/http only reads them.
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

// values is read-only.
var values = newHeaderValues()

// Form negotiates the form of the response.
func (c *Call) Form() (negotiate.Form, error) {
	// A Status always has a protobuf form, but is only served in it without an endpoint.
	protobuf := c.Endpoint == nil || c.Endpoint.hasProtobuf()
	form, _, err := c.Choose([]negotiate.Variant{negotiate.Own(protobuf)})
	return form, err
}

// Document responds with a document, given as compact JSON, in the negotiated form. The document
// must be an object of the endpoint's kind, or the endpoint must have no kind.
func (c *Call) Document(code int, document []byte, form negotiate.Form) error {
	return c.Object(code, c.Endpoint.Kind, document, form)
}

// Object responds with an object of a kind, given as compact JSON, in the negotiated form.
func (c *Call) Object(code int, k *schema.Kind, document []byte, form negotiate.Form) error {
	if c.Recording != nil && c.Recording.WantsResponse() {
		c.Recording.KeepResponse(document)
	}
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

// DocumentAs is Document for a document without a protobuf form that was converted to a target,
// which it names in the Content-Type (L9).
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

// Text responds with plain text, which all responses share. It ignores Accept, because there is no
// other form.
func (c *Call) Text(body []byte) error { return c.send(http.StatusOK, body, values.text) }

// Status responds with a Status in the negotiated form (I32).
func (c *Call) Status(code int, s *status.Status, form negotiate.Form) error {
	if c.Recording != nil && c.Recording.WantsResponse() {
		document, err := json.Marshal(s)
		if err != nil {
			return fmt.Errorf("record a Status: %w", err)
		}
		c.Recording.KeepResponse(document)
	}
	body, err := c.Statuses.Encode(s, form)
	if err != nil {
		return err
	}
	return c.answer(code, body, values.content[form])
}

// answer sends a body that belongs to the call, or holds memory that nothing else may hold when it
// is sent. It charges the body to the budget of answers.
func (c *Call) answer(code int, body []byte, contentType []string) error {
	if err := c.hold(len(body)); err != nil && !c.writes() {
		return err
	}
	return c.send(code, body, contentType)
}

// writes reports whether the call may have changed something, so that it must not be refused any
// more. Its answer is sent without a charge; wire/h2 breaks it off if it has to wait.
func (c *Call) writes() bool { return c.Endpoint != nil && c.Endpoint.Class == ClassWrite }

// send sends a body. The call leaves its seat first: the client may take its time.
func (c *Call) send(code int, body []byte, contentType []string) error {
	c.collapse() // the reader may take long
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
	c.Seat.Leave()
	c.W.WriteHeader(code)
	// A client that has disconnected is not an error of the server.
	_, _ = c.W.Write(body)
	return nil
}

// StreamHeader sends the header of a watch stream at once, so that the client knows that the watch
// has begun (D1). It removes the write deadline, because package watch ends the streams whose
// clients do not read.
func (c *Call) StreamHeader(form negotiate.Form) error {
	c.W.Header()["Content-Type"] = values.stream[form]
	rc := http.NewResponseController(c.W)
	if err := rc.SetWriteDeadline(time.Time{}); err != nil {
		return err
	}
	c.W.WriteHeader(http.StatusOK)
	return rc.Flush()
}

// hold charges n bytes of the response to the budget of its user, or refuses the request. Small
// responses are charged by wire/h2, when they wait.
func (c *Call) hold(n int) error {
	if n <= smallAnswer {
		return nil
	}
	held := &c.temporary().answering
	more := int64(n) - held.Amount()
	if more <= 0 {
		return nil
	}
	if held.Amount() == 0 {
		*held = c.HoldAnswer()
	}
	if _, ok := held.Take(more); !ok {
		return status.NewTooManyRequests()
	}
	return nil
}

// HoldAnswer returns an empty holding of the budget of responses, for the sender of the call.
func (c *Call) HoldAnswer() budget.Holding {
	if c.Sender == nil {
		return c.Answers.Hold("", "")
	}
	return c.Answers.Hold(c.Sender.Name, "")
}

// limitWrite sets the deadline for the client to read the rest of the response. Over HTTP/2 every
// response has a deadline already, from the first time that it waits.
func (c *Call) limitWrite() error {
	if c.R.ProtoMajor == 2 {
		return nil
	}
	return c.limitNextWrite()
}

// limitNextWrite bounds how long the reader may take over what is written until the next call.
func (c *Call) limitNextWrite() error {
	return http.NewResponseController(c.W).SetWriteDeadline(time.Now().Add(writeTimeout))
}
