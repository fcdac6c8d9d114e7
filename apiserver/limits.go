package apiserver

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/apiserver/access/budget"
	"quorate/apiserver/access/fairness"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/status"
	"quorate/raftstore/addresskey"
)

// seats are the seats of the requests under way, of reads and of writes apart (I28).
type seats struct {
	read, write   *fairness.Dispatcher
	reads, writes atomic.Int64 // requests under way that had seats, those that lost or left them included
}

func newSeats(cfg Config) (*seats, error) {
	adjuster := fairness.NewAdjuster(cfg.Registerer)
	class := func(class string, bound int) (*fairness.Dispatcher, error) {
		d, err := fairness.New(fairness.Config{
			Seats: bound, Levels: cfg.Levels, Adjuster: adjuster,
			Registerer: prometheus.WrapRegistererWith(prometheus.Labels{"class": class}, cfg.Registerer),
		})
		if err != nil {
			return nil, fmt.Errorf("seats of class %s: %w", class, err)
		}
		return d, nil
	}
	read, err := class("read", cfg.Limits.Reads)
	if err != nil {
		return nil, err
	}
	write, err := class("write", cfg.Limits.Writes)
	return &seats{read: read, write: write}, err
}

// replace divides the seats of both classes among other levels.
func (s *seats) replace(levels []fairness.Level) error {
	return errors.Join(s.read.Replace(levels), s.write.Replace(levels))
}

// serve calls the handler of a call once it has seats, and releases those that it still has at the
// end. Health needs none.
func (s *seats) serve(c *route.Call) error {
	switch c.Endpoint.Class {
	case route.ClassRead:
		s.reads.Add(1)
		defer s.reads.Add(-1)
		return s.serveWith(s.read, c)
	case route.ClassWrite:
		s.writes.Add(1)
		defer s.writes.Add(-1)
		return s.serveWith(s.write, c)
	case route.ClassStream: // until it has started
		return s.serveWith(s.read, c)
	default:
		return c.Endpoint.Serve(c)
	}
}

func (s *seats) serveWith(d *fairness.Dispatcher, c *route.Call) error {
	if err := enter(d, c, &c.Seat); err != nil {
		return err
	}
	defer c.Seat.Leave()
	return c.Endpoint.Serve(c)
}

// enter takes seats for a call, which may have no endpoint yet. Whoever impersonates others takes
// them as himself.
func enter(d *fairness.Dispatcher, c *route.Call, seat *fairness.Seat) error {
	r := fairness.Request{Verb: route.VerbGet}
	if u := c.Sender; u != nil {
		r.User, r.Groups = u.Name, u.Groups
	} else {
		r.Address = addresskey.Of(c.R.RemoteAddr)
	}
	if e := c.Endpoint; e != nil {
		r.Verb, r.Group, r.Resource, r.Namespace = e.Verb, e.Subject.Group, e.Subject.Plural, c.Namespace
		if e.Cost != nil {
			r.Cost = e.Cost(c)
		}
	}
	err := d.Enter(c.R.Context(), &r, seat)
	switch {
	case errors.Is(err, fairness.ErrBusy):
		return status.NewTooManyRequests()
	case errors.Is(err, fairness.ErrClosed):
		return status.NewUnavailable(err.Error())
	}
	return err
}

// close refuses the requests that wait for seats.
func (s *seats) close() {
	s.read.Close()
	s.write.Close()
}

// answerShare is the part of the memory for answers that one user may have.
const answerShare = 4

// waitingAnswer is what a response of HTTP/2 is charged while it waits for its client: its stream,
// its goroutine and the bytes that are collected.
const waitingAnswer = 32 << 10

// newAnswers returns the budget of answers that may wait for their clients.
func newAnswers(bytes int64, m *metrics) *budget.Pool {
	cfg := budget.Config{Total: bytes, PerUser: bytes / answerShare}
	cfg.Refused = m.refusals("answer-bytes", cfg)
	return budget.New(cfg)
}

// requestIDs returns ids that are unique across nodes and restarts: a random prefix and a counter.
type requestIDs struct {
	prefix string
	count  atomic.Uint64
}

func newRequestIDs() string {
	var b [8]byte
	// crypto/rand never fails: it stops the process instead.
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:]) + "-"
}

func (r *requestIDs) next() string {
	var b [40]byte
	out := append(b[:0], r.prefix...)
	return string(strconv.AppendUint(out, r.count.Add(1), 16))
}
