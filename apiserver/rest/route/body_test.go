package route

import (
	"io"
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

// takenBody is a body that has arrived.
type takenBody struct {
	io.ReadCloser
	whole []byte
}

func (b takenBody) TakeWhole() ([]byte, bool) { return b.whole, true }

// TestTakenBodiesAreCharged: a body that is taken over as it has arrived is charged to its user
// until the call ends, and refused if there is no room for it.
func TestTakenBodiesAreCharged(t *testing.T) {
	t.Parallel()
	bodies := budget.New(budget.Config{Total: 150})
	call := func() *Call {
		c := &Call{W: timed{httptest.NewRecorder()}, Services: &Services{Bodies: bodies}, R: httptest.NewRequest(http.MethodPost, "/", nil)}
		c.R.ContentLength, c.R.Body = 100, takenBody{c.R.Body, make([]byte, 100)}
		return c
	}
	first, second := call(), call()
	if body, err := first.Body(); err != nil || len(body) != 100 || bodies.Used() != 100 {
		t.Errorf("%d bytes, %d charged: %v", len(body), bodies.Used(), err)
	}
	if body, err := second.Body(); err == nil || bodies.Used() != 100 {
		t.Errorf("without room: %d bytes, %d charged", len(body), bodies.Used())
	}
	first.Release()
	if body, err := second.Body(); err != nil || len(body) != 100 {
		t.Errorf("with room again: %d bytes, %v", len(body), err)
	}
	second.Release()
	if n := bodies.Used(); n != 0 {
		t.Errorf("%d bytes are charged at the end", n)
	}
}
