package apiserver

import (
	"fmt"
	"math"
	"time"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/access/budget"
	"quorate/apiserver/access/ratelimit"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/rest/watch"
	"quorate/apiserver/wire/status"
	"quorate/raftstore/addresskey"
)

// Shares are what one user and one address may have of the node, so that nobody can take all of it.
// A zero field takes its default, which is half of what all have together.
type Shares struct {
	// ConnectionsPerAddress bounds the open connections of one address.
	ConnectionsPerAddress int
	// WatchesPerUser and WatchesPerAddress bound the open watch streams.
	WatchesPerUser, WatchesPerAddress int
	// RequestsPerUser bounds the reads and writes of one user at the same time.
	RequestsPerUser int
	// RequestRate bounds the requests of one user in a second; 0 for no bound. Members of
	// system:masters have no such bound.
	RequestRate int
	// AuthFailureRate bounds the requests of one address in a second that are refused with 401
	// without a delay; the default is 100, and a negative number is no bound.
	AuthFailureRate int
}

// defaultAuthFailureRate is the default of Shares.AuthFailureRate.
const defaultAuthFailureRate = 100

// rateBurst is for how many seconds a client may save up what its rate allows.
const rateBurst = 10

// reservePart is the part of each bound that its reserve has in addition: one in so many.
const reservePart = 20

func (l *Limits) shareDefaults() {
	half := func(own *int, all int) {
		if *own == 0 {
			*own = max(all/2, 1)
		}
	}
	half(&l.Shares.ConnectionsPerAddress, l.Connections)
	half(&l.Shares.WatchesPerUser, l.Watches)
	half(&l.Shares.WatchesPerAddress, l.Watches)
	half(&l.Shares.RequestsPerUser, l.Reads+l.Writes)
	if l.Shares.AuthFailureRate == 0 {
		l.Shares.AuthFailureRate = defaultAuthFailureRate
	}
}

// bound is a pool of which users and addresses have shares, with the words of its refusals.
type bound struct {
	*budget.Pool
	cfg        budget.Config
	what, flag string
}

// newBound returns a bound. The metric of refusals has the label flag, without its prefix "max-".
func newBound(cfg budget.Config, what, flag string, m *metrics) *bound {
	cfg.Refused = m.refusals(flag[len("max-"):], cfg)
	return &bound{Pool: budget.New(cfg), cfg: cfg, what: what, flag: flag}
}

// refusal returns the 429 for a request that reached a bound.
func (b *bound) refusal(which budget.Bound) error {
	text := fmt.Sprintf("the server has %d %s, which is all it may have (--%s)", b.cfg.Total, b.what, b.flag)
	switch which {
	case budget.User:
		text = fmt.Sprintf("your user has %d %s, which is all that one user may have (--%s-per-user)", b.cfg.PerUser, b.what, b.flag)
	case budget.Address:
		text = fmt.Sprintf("your address has %d %s, which is all that one address may have (--%s-per-address)",
			b.cfg.PerAddress, b.what, b.flag)
	}
	return status.NewLimitReached(text, 1)
}

// shares bounds what users have of the node.
type shares struct {
	watches  *bound
	requests *bound
	rate     *ratelimit.Meter // of requests; nil for no bound
	perUser  int              // what rate allows
	metrics  *metrics
}

func newShares(l Limits, m *metrics) *shares {
	s := &shares{
		watches: newBound(budget.Config{
			Total: int64(l.Watches), PerUser: int64(l.Shares.WatchesPerUser), PerAddress: int64(l.Shares.WatchesPerAddress),
			Reserve: int64(l.Watches/reservePart + 1),
		}, "open watches", "max-watches", m),
		// The seats of requests bound all of them together.
		requests: newBound(budget.Config{
			PerUser: int64(l.Shares.RequestsPerUser), Reserve: int64(l.Shares.RequestsPerUser/reservePart + 1),
		}, "requests in progress", "max-requests", m),
		metrics: m,
	}
	if l.Shares.RequestRate > 0 {
		s.rate, s.perUser = ratelimit.New(float64(l.Shares.RequestRate), rateBurst*l.Shares.RequestRate), l.Shares.RequestRate
	}
	return s
}

// hold returns an empty holding of a user. Members of system:masters may use the reserve, so that
// an administrator is served while others have everything.
func (b *bound) hold(u *auth.User, address string) budget.Holding {
	if u.In(auth.MastersGroup) {
		return b.HoldPrivileged(u.Name, address)
	}
	return b.Hold(u.Name, address)
}

// enter counts a request until its exchange is released, and returns the 429 if its sender has
// reached a bound. Whoever impersonates others is counted as himself.
func (s *shares) enter(x *exchange) error {
	c := &x.call
	u := c.Sender
	if u == nil { // health and version, without credentials
		return nil
	}
	if s.rate != nil && !u.In(auth.MastersGroup) {
		if wait, ok := s.rate.Take(u.Name, c.Now); !ok {
			s.metrics.requestRate.Inc()
			return status.NewLimitReached(fmt.Sprintf(
				"your user may send %d requests in a second (--max-request-rate-per-user)", s.perUser), seconds(wait))
		}
	}
	if class := c.Endpoint.Class; class != route.ClassRead && class != route.ClassWrite {
		return nil
	}
	x.held = s.requests.hold(u, "")
	if which, ok := x.held.Take(1); !ok {
		return s.requests.refusal(which)
	}
	return nil
}

// admitWatch returns the holding of a watch stream, or the 429 if a bound is reached.
func (s *shares) admitWatch(w watch.Sender) (budget.Holding, error) {
	held := s.watches.hold(w.User, addresskey.Of(w.Address))
	if which, ok := held.Take(1); !ok {
		return held, s.watches.refusal(which)
	}
	return held, nil
}

// seconds rounds a wait up for Retry-After.
func seconds(wait time.Duration) int { return max(1, int(math.Ceil(wait.Seconds()))) }
