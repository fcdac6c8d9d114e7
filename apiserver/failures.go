package apiserver

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/apiserver/access/budget"
	"quorate/apiserver/access/ratelimit"
	"quorate/apiserver/wire/status"
	"quorate/raftstore/addresskey"
)

const (
	// firstAuthDelay is the delay of the first 401 beyond the rate of an address. It doubles with
	// each further one, up to maxAuthDelay.
	firstAuthDelay = 50 * time.Millisecond
	maxAuthDelay   = 5 * time.Second
	// maxAuthDelayed and maxAuthDelayedPerAddress bound the requests that are delayed at a time.
	// Those beyond get 429 at once.
	maxAuthDelayed           = 256
	maxAuthDelayedPerAddress = 16
)

// authFailures delays the 401s of an address that sends many requests without valid credentials,
// and returns 429 at once when too many are delayed already. Requests with valid credentials are
// never delayed, because other users may share the address. This bounds the work that invalid
// credentials cause, and slows down guessing by clients that wait for each response. It does not
// make a weak token safe.
type authFailures struct {
	meter   *ratelimit.Meter // by address; nil for no bound
	delayed *budget.Pool
	hits    prometheus.Counter
}

func newAuthFailures(perSecond int, m *metrics) *authFailures {
	f := &authFailures{
		delayed: budget.New(budget.Config{Total: maxAuthDelayed, PerAddress: maxAuthDelayedPerAddress}), hits: m.authFailures,
	}
	if perSecond > 0 {
		f.meter = ratelimit.New(float64(perSecond), rateBurst*perSecond)
	}
	return f
}

// refuse returns the error for a request without valid credentials, after a delay if its address
// has sent too many.
func (f *authFailures) refuse(ctx context.Context, remote string, now time.Time) error {
	if f.meter == nil {
		return status.NewUnauthorized()
	}
	address := addresskey.Of(remote)
	excess := f.meter.Add(address, now)
	if excess == 0 {
		return status.NewUnauthorized()
	}
	f.hits.Inc()
	delay := authDelay(excess)
	held := f.delayed.Hold("", address)
	defer held.Release()
	if _, ok := held.Take(1); !ok {
		return status.NewLimitReached(
			fmt.Sprintf("your address has sent too many requests without valid credentials; wait %s", delay), seconds(delay))
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return status.NewUnauthorized()
}

// authDelay returns the delay of a refusal of an address that is beyond its burst by so many.
func authDelay(excess int) time.Duration {
	delay := firstAuthDelay
	for ; excess > 1 && delay < maxAuthDelay; excess-- {
		delay *= 2
	}
	return min(delay, maxAuthDelay)
}
