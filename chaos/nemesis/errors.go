package nemesis

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrNoVictim says that nothing can be struck now: what could be is struck already, or the cluster
// is too small.
var ErrNoVictim = errors.New("nobody to strike")

// NotRecovered says what a cluster did not do within its time, although nothing hurt it any more or
// no more than it must survive. It is a finding; any other error of a Nemesis means that the run
// could not be made.
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

// Unwrap returns what the last attempt ended with, if it failed with an error.
func (e *NotRecovered) Unwrap() error { return e.Err }

// Part parts what an error of a Nemesis says into findings and what else went wrong; either may be
// nil.
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

// hopeless is an error after which looking again is of no use.
type hopeless struct{ error }

// lookInterval is how often a condition outside this process is looked at again.
const lookInterval = 100 * time.Millisecond

// await looks until the condition holds. When it doesn't within the bound, that is NotRecovered;
// when ctx ends, it's the end of ctx.
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
		if last == nil || bounded.Err() == nil { // that the time is up says nothing about why
			last = err
		}
		if end, is := errors.AsType[hopeless](err); is {
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

// Pause waits for d, or returns the error of ctx when that ends first.
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
