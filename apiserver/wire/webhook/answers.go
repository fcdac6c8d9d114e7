package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/apiserver/access/budget"
)

const (
	// maxAnswersBytes bounds the memory of the answers of all webhooks.
	maxAnswersBytes = 256 << 20
	// maxWebhookBytes bounds that of the answers of one webhook, so that none can take it all.
	maxWebhookBytes = 64 << 20
	// maxWaiting and maxWebhookWaiting bound the calls that wait for memory, of all webhooks and of
	// one.
	maxWaiting, maxWebhookWaiting = 1024, 64
	// maxWait is a bound beside the deadline of a call, which is shorter.
	maxWait = time.Minute
	// usualBytes is what an answer of unknown length reserves besides the length of its request. What
	// it takes more is not waited for.
	usualBytes = 64 << 10
)

// ErrMemory reports that the answers of webhooks take as much memory as they may.
var ErrMemory = errors.New("the answers of webhooks take too much memory")

// Answers bounds the memory that the answers of webhooks take together, from when their bodies are
// read until nothing of them is needed. A call waits for memory before its answer is read, and fails
// if an answer turns out to be larger while no more is left.
type Answers struct {
	queue   *budget.Queue
	refused *prometheus.CounterVec
}

// NewAnswers returns a budget with its metrics.
func NewAnswers(reg prometheus.Registerer) *Answers {
	refused := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "quorate_apiserver_webhook_answers_refused_total",
		Help: "Answers of webhooks that were not read, or not read to their end, because of the memory that answers take; by bound.",
	}, []string{"bound"})
	for _, bound := range []budget.Bound{budget.Total, budget.User, budget.Waiting, growth} {
		refused.WithLabelValues(string(bound))
	}
	a := &Answers{refused: refused, queue: budget.NewQueue(budget.QueueConfig{
		Total: maxAnswersBytes, PerUser: maxWebhookBytes, Waiters: maxWaiting, WaitersPerUser: maxWebhookWaiting, MaxWait: maxWait,
		Refused: func(bound budget.Bound) { refused.WithLabelValues(string(bound)).Inc() },
	})}
	reg.MustRegister(refused, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "quorate_apiserver_webhook_answers_bytes",
		Help: "Memory reserved for answers of webhooks.",
	}, func() float64 { return float64(a.queue.Used()) }), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "quorate_apiserver_webhook_answers_waiting",
		Help: "Calls of webhooks that wait for memory for the answer.",
	}, func() float64 { return float64(a.queue.Waiters()) }))
	return a
}

// growth is the bound that an answer reaches that is longer than its reservation, if no more memory
// is left.
const growth budget.Bound = "growth"

// Answer is the body of an answer. It holds memory of the budget until Release.
type Answer struct {
	Data []byte

	answers *Answers
	webhook string
	held    int64
}

// Release returns the memory. A nil Answer has none.
func (a *Answer) Release() {
	if a != nil && a.held > 0 {
		a.answers.queue.Release(a.webhook, a.held)
		a.held = 0
	}
}

// Reserve adds memory to what the answer holds, for what is made of it, or returns ErrMemory.
func (a *Answer) Reserve(bytes int64) error {
	if bytes <= 0 {
		return nil
	}
	if !a.answers.queue.TryAcquire(a.webhook, bytes) {
		a.answers.refused.WithLabelValues(string(growth)).Inc()
		return ErrMemory
	}
	a.held += bytes
	return nil
}

// read reads a body of a length that may be unknown (-1), of at most most bytes. usual is what is
// reserved for one of unknown length. The caller must release the answer even if it is returned
// with an error.
func (a *Answers) read(ctx context.Context, webhook string, body io.Reader, length, usual, most int64) (*Answer, error) {
	out := &Answer{answers: a, webhook: webhook}
	if length > most {
		return out, fmt.Errorf("%w: %d bytes", ErrTooLong, most)
	}
	if length < 0 {
		length = min(usual, most)
	}
	first := length + 1 // a byte for the end
	if err := a.queue.Acquire(ctx, webhook, first); err != nil {
		return out, fmt.Errorf("%w: %w", ErrMemory, err)
	}
	out.held = first
	data := make([]byte, 0, first)
	for {
		n, err := body.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > most:
			return out, fmt.Errorf("%w: %d bytes", ErrTooLong, most)
		case errors.Is(err, io.EOF):
			out.Data = data
			return out, nil
		case err != nil:
			return out, err
		}
		if len(data) < cap(data) {
			continue
		}
		longer := min(2*int64(cap(data)), most+1)
		if err := out.Reserve(longer); err != nil { // the text is there twice while it is copied
			return out, err
		}
		before := int64(cap(data))
		data = append(make([]byte, 0, longer), data...)
		out.shrink(before)
	}
}

// shrink returns a part of the memory.
func (a *Answer) shrink(bytes int64) {
	a.answers.queue.Release(a.webhook, bytes)
	a.held -= bytes
}
