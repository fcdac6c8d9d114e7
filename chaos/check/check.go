package check

import (
	"cmp"
	"context"
	"slices"
	"time"

	"quorate/chaos/history"
)

// Promise is one of the guarantees that a cluster must keep.
type Promise string

// The promises, in the order in which a Verdict lists them.
const (
	NoLoss       Promise = "acknowledged writes are kept"
	Linearizable Promise = "quorum reads and writes are linearizable"
	Effects      Promise = "a write takes effect once, and only over the version it names"
	Versions     Promise = "versions are unique and follow real time"
	WatchAll     Promise = "watchers receive every change"
	WatchOrder   Promise = "watchers receive each change once, and in order"
	WatchTruth   Promise = "watchers receive the same on every node, and only changes that a write made"
	WatchResume  Promise = "watchers can resume where they were, to the end"
	Lists        Promise = "a list is a state that existed"
	ReadsCached  Promise = "cached reads are of states that existed, and never go back on one node"
	SameState    Promise = "all nodes hold the same state in the end"
	Answers      Promise = "no response that a correct server never sends"
	Served       Promise = "writes and reads are refused no longer than the faults allow"
	IdleReads    Promise = "every read of an idle cluster gets a response, unless the act at the time explains it"
	IdleAnswers  Promise = "reads of an idle cluster return the last write"
)

var promises = [...]Promise{
	NoLoss, Linearizable, Effects, Versions, WatchAll, WatchOrder, WatchTruth, WatchResume, Lists,
	ReadsCached, SameState, Answers, Served, IdleReads, IdleAnswers,
}

// Answer is the answer to a yes-or-no question, as far as it is known.
type Answer string

// The answers. Undecided means that the search was abandoned, or that the history has too little
// information.
const (
	Yes       Answer = "yes"
	No        Answer = "no"
	Undecided Answer = "undecided"
)

// Options say how a history is judged.
type Options struct {
	// VisualizationDir is an existing directory for a page by porcupine about each key that isn't
	// linearizable; "" for none.
	VisualizationDir string
	// Timeout bounds the search for an order of operations that the sweep can't decide; 0 means
	// DefaultTimeout.
	Timeout time.Duration
	// ExpiredPositions explain 410 for watch positions, and ExpiredLists 410 for the states of
	// paged lists. Without an excuse for that node and time such a response is a finding.
	ExpiredPositions, ExpiredLists []Excuse
	// Allowed returns how long an outage may last, given the faults at the time. If it is nil,
	// outages are not judged.
	Allowed func(Outage) time.Duration
}

// DefaultTimeout is long enough for any history of a working cluster, where no search is needed.
const DefaultTimeout = 20 * time.Second

// SeriesInterval is the interval of the series of a verdict.
const SeriesInterval = time.Second

// Counts counts the operations of one kind by outcome.
type Counts struct {
	Operations   int `json:"operations"`   // all that were tried
	Acknowledged int `json:"acknowledged"` // writes that were done, reads that were answered
	Rejected     int `json:"rejected"`     // writes that came too late: a conflict, or nothing there
	Unknown      int `json:"unknown"`      // that may or may not have been done; reads: without an answer
	Unavailable  int `json:"unavailable"`  // surely not done
}

// Verdict is the result of judging one history.
type Verdict struct {
	// Findings contains every promise, including those that held.
	Findings []Finding `json:"findings"`
	// Linearizable is Yes only if every key is linearizable. UndecidedKeys are the keys for which
	// the answer is unknown.
	Linearizable  Answer   `json:"linearizable"`
	UndecidedKeys []string `json:"undecidedKeys,omitempty"`
	// Unjudged is the number of lists, final states and cached reads that could not be compared
	// with the timeline, because the watchers together did not report every change. A record
	// without final states, or without checksums, adds one.
	Unjudged       int      `json:"unjudged"`
	Visualizations []string `json:"visualizations,omitempty"` // files, in VisualizationDir
	Problems       []string `json:"problems,omitempty"`       // with writing them

	Workloads       map[history.Kind]Counts `json:"workloads"`
	Lost            int                     `json:"lost"` // acknowledged writes
	WatchViolations int                     `json:"watchViolations"`

	Watchers  int `json:"watchers"`
	Streams   int `json:"streams"`
	Delivered int `json:"delivered"` // events, to all watchers
	Expired   int `json:"expired"`   // positions and states said to be too old
	// Mixture is nil if the history has none.
	Mixture *Mixture `json:"mixture,omitempty"`

	// LongestUnavailable is the longest time in which no write was acknowledged although clients
	// were trying, and LongestUnread the longest time in which no quorum read succeeded.
	LongestUnavailable time.Duration `json:"longestUnavailable"`
	LongestUnread      time.Duration `json:"longestUnread"`
	// Refusals contains the longest outage of each service of each node.
	Refusals []Refusal `json:"refusals,omitempty"`
	// Outages contains every outage, and Series what was served when.
	Outages []Outage `json:"outages,omitempty"`
	Series  Series   `json:"series"`
}

// OK reports whether every promise held, and all was judged.
func (v *Verdict) OK() bool {
	for _, f := range v.Findings {
		if f.Count > 0 {
			return false
		}
	}
	return v.Linearizable == Yes && v.Unjudged == 0
}

// All judges a history. Apart from the visualizations that it writes and from the time limit, it is
// a pure function of the record. If ctx ends or the time limit is reached first, the keys that the
// search has not decided yet are reported as Undecided.
//
// The namespace of the record must have been empty at the record's Start. All writes must be
// conditional (a create on the absence of the object), and no two writes of a key may have the same
// value.
func All(ctx context.Context, r *history.Record, o Options) *Verdict {
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	v := &Verdict{
		Linearizable: Yes, Workloads: workloads(r), Watchers: len(r.Watches), Expired: len(r.Expired),
		LongestUnavailable: longestGap(r.Ops, history.Kind.IsWrite),
		LongestUnread:      longestGap(r.Ops, isQuorumRead),
		Series:             NewSeries(r, SeriesInterval),
	}
	for i := range r.Watches {
		v.Streams += r.Watches[i].Streams
		if r.Watches[i].Expired != nil {
			v.Expired++
		}
	}
	found := findings{}
	ops := byInvocation(r.Ops)
	writes := newWrites(ops)
	t := newTimeline(r, writes)
	t.effects(writes, found)
	answers(r, ops, o, found)
	v.Refusals, v.Outages = served(r, ops, o.Allowed, found)
	lost := lostWrites(r, ops, t)
	lost.tell(ops, found)
	versions(ops, t, found)
	v.Delivered = watchers(r, t, o, found)
	v.Unjudged = lists(r, ops, t, found) + cachedReads(ops, t, found)
	nodes(r, t, ops, found)
	if len(r.Finals) == 0 || len(r.Checksums.Nodes) == 0 {
		v.Unjudged++
	}
	linearizable(ctx, r, ops, t, o, v, found)
	v.Lost, v.WatchViolations = len(lost), found.count(WatchAll, WatchOrder, WatchTruth, WatchResume)
	v.Findings = found.all()
	return v
}

// byInvocation returns the operations in the order in which they were invoked.
func byInvocation(ops []history.Op) []*history.Op {
	sorted := make([]*history.Op, len(ops))
	for i := range ops {
		sorted[i] = &ops[i]
	}
	slices.SortStableFunc(sorted, func(a, b *history.Op) int { return cmp.Compare(a.Invoked, b.Invoked) })
	return sorted
}
