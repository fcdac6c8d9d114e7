package route

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/access/budget"
	"quorate/apiserver/access/fairness"
	"quorate/apiserver/wire/negotiate"
)

// seen is a response writer that records the seats in use when the body is written.
type seen struct {
	*httptest.ResponseRecorder
	seats *fairness.Dispatcher
	inUse []int
}

func (w *seen) Write(p []byte) (int, error) {
	w.inUse = append(w.inUse, w.seats.InUse())
	return w.ResponseRecorder.Write(p)
}

// seated returns a call with a seat.
func seated(t *testing.T, answers *budget.Pool) (*Call, *seen) {
	t.Helper()
	d, err := fairness.New(fairness.Config{Seats: 10, Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	w := &seen{ResponseRecorder: httptest.NewRecorder(), seats: d}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	r.ProtoMajor = 2 // which has the deadlines of answers below
	c := &Call{W: w, R: r, Sender: &auth.User{Name: "jane"}, Services: &Services{Answers: answers}, Endpoint: &Endpoint{}}
	if err := d.Enter(t.Context(), &fairness.Request{User: "jane"}, &c.Seat); err != nil {
		t.Fatal(err)
	}
	return c, w
}

// TestAnswerLeavesItsSeat: an answer whose bytes are ready is written without a seat, whatever its
// size, and takes memory of its user's share until the call ends.
func TestAnswerLeavesItsSeat(t *testing.T) {
	t.Parallel()
	for _, size := range []int{100, smallAnswer, smallAnswer + 1, slowBody + 1, 1 << 20} {
		answers := budget.New(budget.Config{Total: 4 << 20, PerUser: 2 << 20})
		c, w := seated(t, answers)
		if err := c.Document(http.StatusOK, bytes.Repeat([]byte(" "), size), negotiate.JSON); err != nil {
			t.Fatal(err)
		}
		if len(w.inUse) != 1 || w.inUse[0] != 0 {
			t.Errorf("%d bytes: seats in use at each write: %v", size, w.inUse)
		}
		held := int64(0)
		if size > smallAnswer {
			held = int64(size)
		}
		if got := answers.Used(); got != held {
			t.Errorf("%d bytes: %d are charged", size, got)
		}
		c.Release()
		if answers.Used() != 0 {
			t.Errorf("%d bytes: %d are charged after the end", size, answers.Used())
		}
	}
}

// TestAnswersAreBounded: a read whose user has too many answers that wait is refused before the
// first byte; a write, which was done, is answered.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	answers := budget.New(budget.Config{Total: 4 << 20, PerUser: 1 << 20})
	first, _ := seated(t, answers)
	if err := first.Document(http.StatusOK, make([]byte, 1<<20), negotiate.JSON); err != nil {
		t.Fatal(err)
	}
	body := make([]byte, slowBody)
	for name, answer := range map[string]func(c *Call) error{
		"whole": func(c *Call) error { return c.Document(http.StatusOK, body, negotiate.JSON) },
		"stream": func(c *Call) error {
			s := c.Stream(negotiate.JSON)
			s.Buf = append(s.Buf, make([]byte, 2*chunkBytes)...)
			return s.Spill()
		},
		"short stream": func(c *Call) error {
			s := c.Stream(negotiate.JSON)
			s.Buf = append(s.Buf, body...)
			return s.Close()
		},
	} {
		c, w := seated(t, answers)
		if err := answer(c); err == nil || len(w.inUse) != 0 {
			t.Errorf("%s: a read over the share: %v, %d writes", name, err, len(w.inUse))
		}
		c.Release()
	}
	write, w := seated(t, answers)
	write.Endpoint.Class = ClassWrite
	if err := write.Document(http.StatusOK, body, negotiate.JSON); err != nil || w.Body.Len() != len(body) {
		t.Errorf("a write over the share: %v, %d bytes", err, w.Body.Len())
	}
	write.Release()
	if err := func() error { c, _ := seated(t, answers); return c.Text(body) }(); err != nil {
		t.Errorf("a text that all answers share: %v", err)
	}
	first.Release()
	if answers.Used() != 0 {
		t.Errorf("%d bytes are charged after the end", answers.Used())
	}
}
