package route

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"quorate/apiserver/negotiate"
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
type headerValues struct{ json, yaml, stream, gzip, vary []string }

func newHeaderValues() headerValues {
	return headerValues{
		json:   []string{negotiate.JSON.ContentType()},
		yaml:   []string{negotiate.YAML.ContentType()},
		stream: []string{negotiate.StreamType},
		gzip:   []string{"gzip"},
		vary:   []string{"Accept-Encoding"},
	}
}

// values is a compiled table.
var values = newHeaderValues()

// Form chooses the form of the answer.
func (c *Call) Form() (negotiate.Form, error) {
	// An answer's form depends on the query only through `pretty`.
	if c.R.URL.RawQuery == "" {
		return negotiate.Answer(c.R, nil)
	}
	return negotiate.Answer(c.R, c.Query())
}

// Document answers with a compact JSON document, in the form chosen.
func (c *Call) Document(code int, document []byte, form negotiate.Form) error {
	body, err := negotiate.Encode(document, form)
	if err != nil {
		return err
	}
	h := c.W.Header()
	setType(h, form)
	if len(body) > gzipFrom && c.takesGzip() {
		out := c.Stream(form)
		out.Buf = body
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
	// A reader that has gone is no error of ours.
	_, _ = c.W.Write(body)
	return nil
}

func setType(h http.Header, form negotiate.Form) {
	if form == negotiate.YAML {
		h["Content-Type"] = values.yaml
		return
	}
	h["Content-Type"] = values.json
}

// StreamHeader sets the header of a watch stream and sends it, so that the client knows at once that it watches (D1).
func (c *Call) StreamHeader() error {
	c.W.Header()["Content-Type"] = values.stream
	c.W.WriteHeader(http.StatusOK)
	return http.NewResponseController(c.W).Flush()
}

func (c *Call) takesGzip() bool {
	for _, value := range c.R.Header["Accept-Encoding"] {
		for encoding := range strings.SplitSeq(value, ",") {
			name, params, _ := strings.Cut(strings.TrimSpace(encoding), ";")
			if name == "gzip" && strings.TrimSpace(params) != "q=0" {
				return true
			}
		}
	}
	return false
}

// limitWrite bounds how long the reader may take over the rest of the answer.
func (c *Call) limitWrite() error {
	return http.NewResponseController(c.W).SetWriteDeadline(time.Now().Add(writeTimeout))
}
