package route

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"
	"weak"

	"quorate/apiserver/access/budget"
)

// timed is a response writer whose reads have deadlines.
type timed struct{ *httptest.ResponseRecorder }

func (timed) SetReadDeadline(time.Time) error { return nil }

// TestEndedCallKeepsNoBody: the context of a stopped timer still refers to an ended call, whose body
// may be large and is no longer charged to anybody.
func TestEndedCallKeepsNoBody(t *testing.T) {
	t.Parallel()
	bodies := budget.New(budget.Config{Total: 4 << 20})
	c := &Call{
		W: timed{httptest.NewRecorder()}, Services: &Services{Bodies: bodies},
		R: httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat("b", 1<<20))),
	}
	body, err := c.Body()
	if err != nil || len(body) != 1<<20 || bodies.Used() == 0 {
		t.Fatalf("%d bytes, %d of them charged: %v", len(body), bodies.Used(), err)
	}
	kept := weak.Make(unsafe.SliceData(body))
	c.Release()
	runtime.GC()
	if kept.Value() != nil || bodies.Used() != 0 {
		t.Errorf("the body is kept: %v, %d bytes are charged", kept.Value() != nil, bodies.Used())
	}
	runtime.KeepAlive(c)
}
