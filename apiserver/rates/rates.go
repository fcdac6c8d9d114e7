package rates

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"quorate/apiserver/admin"
	"quorate/apiserver/rest/route"
)

const (
	// Interval is the time between samples.
	Interval = 10 * time.Second
	// maxSamples bounds the samples that are kept: an hour.
	maxSamples = int(time.Hour / Interval)
	// slow is the share of requests that the latencies of a sample bound.
	slow = 0.99
)

// Path is the path of the samples.
const Path = admin.Prefix + "rates"

// Rates is the response of GET /cluster/v1/rates.
type Rates struct {
	IntervalSeconds float64  `json:"intervalSeconds"`
	Samples         []Sample `json:"samples"` // of the responding node, oldest first
}

// Sample is what happened on a node since the sample before.
type Sample struct {
	Time time.Time `json:"time"`
	Term uint64    `json:"term"`
	// Leader is the leader that the node knew, empty if it knew none.
	Leader       string `json:"leader"`
	AppliedIndex uint64 `json:"appliedIndex"`
	// Reads are gets and lists, and Writes are creates, updates, patches and deletions that the node
	// answered, per second.
	Reads  float64 `json:"reads"`
	Writes float64 `json:"writes"`
	// ReadP99Seconds is the time that 99 % of the reads did not exceed; null without any.
	ReadP99Seconds  *float64 `json:"readP99Seconds"`
	WriteP99Seconds *float64 `json:"writeP99Seconds"`
	// Errors are responses to requests for objects with codes from 500, per second.
	Errors float64 `json:"errors"`
	// Entries is how many log entries the node applied per second.
	Entries float64 `json:"entries"`
}

// Store is what a sample says about the log.
type Store interface {
	Term() uint64
	Leader() (name string, ok bool)
	Applied() uint64
}

// Config configures a Recorder.
type Config struct {
	Store  Store
	Totals func() (route.Totals, error)
	Logger *slog.Logger
}

// Recorder takes the samples.
type Recorder struct {
	cfg     Config
	mu      sync.Mutex
	samples []Sample // the last maxSamples, oldest first; guarded by mu
}

// New returns a recorder without samples.
func New(cfg Config) *Recorder { return &Recorder{cfg: cfg} }

// Register adds the route of the samples, which is authorized as a non-resource path.
func (r *Recorder) Register(add func(method, path string, e *route.Endpoint)) {
	add(http.MethodGet, Path, &route.Endpoint{Verb: route.VerbGet, Class: route.ClassRead, Serve: r.serve})
}

func (r *Recorder) serve(c *route.Call) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	document, err := json.Marshal(r.Rates())
	if err != nil {
		return fmt.Errorf("encode rates: %w", err)
	}
	return c.Document(http.StatusOK, document, form)
}

// Rates returns the samples of the last hour.
func (r *Recorder) Rates() Rates {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Rates{IntervalSeconds: Interval.Seconds(), Samples: append([]Sample{}, r.samples...)}
}

// moment is the state from which the next sample is counted.
type moment struct {
	time    time.Time
	totals  route.Totals
	applied uint64
}

// Run takes samples until ctx ends.
func (r *Recorder) Run(ctx context.Context) error {
	ticker := time.NewTicker(Interval)
	defer ticker.Stop()
	before, err := r.moment()
	for {
		if err != nil {
			r.cfg.Logger.Error("the rates of requests are unknown", "error", err)
			return nil // no reason to end the node
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		var now moment
		if now, err = r.moment(); err == nil {
			r.add(r.sample(before, now))
			before = now
		}
	}
}

func (r *Recorder) moment() (moment, error) {
	totals, err := r.cfg.Totals()
	return moment{time.Now(), totals, r.cfg.Store.Applied()}, err
}

func (r *Recorder) sample(before, now moment) Sample {
	seconds := now.time.Sub(before.time).Seconds()
	leader, _ := r.cfg.Store.Leader()
	reads, writes := now.totals.Reads.Since(before.totals.Reads), now.totals.Writes.Since(before.totals.Writes)
	return Sample{
		Time: now.time.UTC().Truncate(time.Millisecond), Term: r.cfg.Store.Term(), Leader: leader, AppliedIndex: now.applied,
		Reads: float64(reads.Count) / seconds, ReadP99Seconds: slowest(reads),
		Writes: float64(writes.Count) / seconds, WriteP99Seconds: slowest(writes),
		Errors: (now.totals.Errors - before.totals.Errors) / seconds, Entries: float64(now.applied-before.applied) / seconds,
	}
}

func slowest(l route.Latencies) *float64 {
	seconds, ok := l.Quantile(slow)
	if !ok {
		return nil
	}
	return &seconds
}

func (r *Recorder) add(s Sample) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.samples) == maxSamples {
		r.samples = slices.Delete(r.samples, 0, 1)
	}
	r.samples = append(r.samples, s)
}
