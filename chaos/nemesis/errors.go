package nemesis

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrNoTarget means that a fault cannot be injected at the moment, because other injections have
// reserved the nodes or the cluster is too small.
var ErrNoTarget = errors.New("no node to inject the fault into")

// NotRecovered means that a cluster did not do something within its time limit, although no fault
// or only a survivable one was active, or that a node ended by itself without a fault that explains
// it. It is a finding. Any other error of a Nemesis means that the run failed.
type NotRecovered struct {
	Fault string
	What  string // what did not happen
	After time.Duration
	Err   error
}

func (e *NotRecovered) Error() string {
	text := fmt.Sprintf("%s: after %v not yet: %s", e.Fault, e.After.Round(time.Millisecond), e.What)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the error of the last attempt, or nil.
func (e *NotRecovered) Unwrap() error { return e.Err }

// Part divides an error of a Nemesis into findings and failures. Either may be nil.
func Part(err error) (findings, failures error) {
	if _, found := errors.AsType[*NotRecovered](err); !found {
		return nil, err
	}
	joined, several := err.(interface{ Unwrap() []error })
	if !several {
		return err, nil
	}
	for _, one := range joined.Unwrap() {
		finding, failure := Part(one)
		findings, failures = errors.Join(findings, finding), errors.Join(failures, failure)
	}
	return findings, failures
}

// permanentError is an error after which further attempts cannot succeed.
type permanentError struct{ error }

// lookInterval is the interval at which conditions outside this process are polled.
const lookInterval = 100 * time.Millisecond

// await polls until the condition holds. If it does not within the bound, await returns
// NotRecovered; if ctx ends, it returns the error of ctx.
func await(ctx context.Context, fault, what string, bound time.Duration, condition func(context.Context) error) error {
	began := time.Now()
	bounded, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	tick := time.NewTicker(lookInterval)
	defer tick.Stop()
	var last error
	for {
		err := condition(bounded)
		if err == nil {
			return nil
		}
		if last == nil || bounded.Err() == nil { // an error because the time is up gives no reason
			last = err
		}
		if end, is := errors.AsType[permanentError](err); is {
			return &NotRecovered{Fault: fault, What: what, After: time.Since(began), Err: end.error}
		}
		select {
		case <-bounded.Done():
			if ctx.Err() != nil {
				return fmt.Errorf("%s: wait for: %s: %w", fault, what, ctx.Err())
			}
			return &NotRecovered{Fault: fault, What: what, After: bound, Err: last}
		case <-tick.C:
		}
	}
}

// Pause waits for d. If ctx ends first, it returns the error of ctx.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
