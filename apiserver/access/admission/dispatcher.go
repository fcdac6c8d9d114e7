package admission

import (
	"context"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/limit"
	"quorate/apiserver/objects/expression"
	"quorate/apiserver/wire/status"
	"quorate/apiserver/wire/webhook"
)

const (
	// maxCalls bounds the concurrent calls of all webhooks.
	maxCalls = 256
	// maxProgramBytes is how much memory the compiled matchConditions take, as estimated: those of
	// some 1,500 conditions.
	maxProgramBytes = 32 << 20
)

// Config configures a Dispatcher.
type Config struct {
	// Authorizer answers what matchConditions ask it.
	Authorizer auth.Authorizer
	Registerer prometheus.Registerer
	// Answers bounds the memory of what webhooks answer.
	Answers *webhook.Answers
	// Reached counts a bound that was reached by a call whose failure is ignored. Otherwise the
	// error of the request is marked with it.
	Reached func(limit.Name)
}

// Dispatcher calls the webhooks of the current configurations.
type Dispatcher struct {
	authorizer auth.Authorizer
	reached    func(limit.Name)
	programs   *expression.Programs
	slots      chan struct{}
	answers    *webhook.Answers
	metrics    *metrics
	current    atomic.Pointer[Index]
	published  chan struct{} // closed by the first Publish
}

// New returns a Dispatcher. Requests wait until Publish is called.
func New(cfg Config) *Dispatcher {
	d := &Dispatcher{
		authorizer: cfg.Authorizer, reached: cfg.Reached, programs: expression.NewPrograms(maxProgramBytes),
		slots: make(chan struct{}, maxCalls), answers: cfg.Answers, published: make(chan struct{}),
	}
	d.metrics = newMetrics(cfg.Registerer, d)
	return d
}

// Publish makes an index the current one. Only one goroutine may call it.
func (d *Dispatcher) Publish(x *Index) {
	if d.current.Swap(x) == nil {
		close(d.published)
	}
}

// Current returns the current index, or nil before the first one was published.
func (d *Dispatcher) Current() *Index { return d.current.Load() }

// Calls are the webhooks that the rules select for a target.
type Calls struct {
	*Dispatcher
	target               Target
	mutating, validating []call
}

// call is a webhook whose rules match.
type call struct {
	*hook
	index int // of the webhook among all mutating, or among all validating ones
	as    form
}

// Select returns the webhooks whose rules match a target, or nil if there are none. Until the
// configurations are known it waits, since none may be missed.
func (d *Dispatcher) Select(ctx context.Context, t Target) (*Calls, error) {
	x := d.current.Load()
	if x == nil {
		select {
		case <-d.published:
			x = d.current.Load()
		case <-ctx.Done():
			return nil, status.NewUnavailable("the webhook configurations are not known yet")
		}
	}
	if len(x.mutating) == 0 && len(x.validating) == 0 || t.Kind.Group == Group {
		return nil, nil
	}
	c := &Calls{Dispatcher: d, target: t, mutating: matching(x.mutating, &t), validating: matching(x.validating, &t)}
	if len(c.mutating) == 0 && len(c.validating) == 0 {
		return nil, nil
	}
	return c, nil
}

// matching returns the webhooks whose rules match.
func matching(hooks []*hook, t *Target) []call {
	var calls []call
	for i, h := range hooks {
		if k := h.kindFor(t); k != nil {
			calls = append(calls, call{hook: h, index: i, as: formFor(t, k)})
		}
	}
	return calls
}
