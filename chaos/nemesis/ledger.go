package nemesis

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"quorate/chaos/nodes"
)

// Record describes one injection in a report.
type Record struct {
	Fault string   `json:"fault"`
	Nodes []string `json:"nodes,omitempty"` // nodes that were affected, in that order
	Notes []string `json:"notes,omitempty"` // further decisions and events
	// Forgot lists the nodes that may have lost their log, or replaced it by a snapshot. They may
	// reject older positions as too old.
	Forgot []string `json:"forgot,omitempty"`
	// Skewed means that clocks were changed, so that nodes may have discarded retained states
	// early.
	Skewed bool      `json:"skewed,omitempty"`
	At     time.Time `json:"at"`
	Healed time.Time `json:"healed"` // zero if the injection is not healed yet
	// Bound is that of the fault. Survivable means that writes had to continue.
	Bound      Bound `json:"-"`
	Survivable bool  `json:"-"`
}

// ledger records the active and the past injections, and what the active ones have reserved.
type ledger struct {
	mu           sync.Mutex
	reservations map[string]*Injection                    // injections by what they have reserved; guarded by mu
	rules        map[*Injection]map[nodes.Link]nodes.Rule // guarded by mu
	active       []*Injection                             // guarded by mu
	past         []Record                                 // records of healed injections; guarded by mu

	// shaping serializes computing all rules and setting them in the network.
	shaping sync.Mutex
}

// reserve reserves something for the injection until it is healed. It returns false if another
// injection has reserved it.
func (l *ledger) reserve(in *Injection, what string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if owner := l.reservations[what]; owner != nil && owner != in {
		return false
	}
	if l.reservations == nil {
		l.reservations = map[string]*Injection{}
	}
	l.reservations[what] = in
	return true
}

func (l *ledger) begin(in *Injection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.active = append(l.active, in)
}

// end releases everything that the injection has reserved. If keep is set, it keeps the injection's
// record.
func (l *ledger) end(in *Injection, keep bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.reservations, func(_ string, owner *Injection) bool { return owner == in })
	before := len(l.active)
	l.active = slices.DeleteFunc(l.active, func(other *Injection) bool { return other == in })
	if !keep || len(l.active) == before {
		return
	}
	in.record.Healed = time.Now()
	l.past = append(l.past, in.record.clone())
}

func (l *ledger) note(in *Injection, node, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if node != "" && !slices.Contains(in.record.Nodes, node) {
		in.record.Nodes = append(in.record.Nodes, node)
	}
	if text != "" {
		in.record.Notes = append(in.record.Notes, text)
	}
}

// forgot records nodes that may have lost their log.
func (l *ledger) forgot(in *Injection, names ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range names {
		if !slices.Contains(in.record.Forgot, name) {
			in.record.Forgot = append(in.record.Forgot, name)
		}
	}
}

// compacted reports whether the log of some node may begin with a snapshot.
func (l *ledger) compacted() bool {
	return slices.ContainsFunc(l.records(), func(r Record) bool { return len(r.Forgot) > 0 })
}

func (l *ledger) skewed(in *Injection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	in.record.Skewed = true
}

func (l *ledger) injections() []*Injection {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.active)
}

func (l *ledger) records() []Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	records := slices.Clone(l.past)
	for _, in := range l.active {
		records = append(records, in.record.clone())
	}
	slices.SortStableFunc(records, func(a, b Record) int { return cmp.Compare(a.At.UnixNano(), b.At.UnixNano()) })
	return records
}

func (r Record) clone() Record {
	r.Nodes, r.Notes, r.Forgot = slices.Clone(r.Nodes), slices.Clone(r.Notes), slices.Clone(r.Forgot)
	return r
}

// shape sets the rules of one injection, or removes them if rules is nil, and updates the network
// with the rules of all injections.
func (l *ledger) shape(ctx context.Context, fleet nodes.Fleet, in *Injection, rules map[nodes.Link]nodes.Rule) error {
	network, has := nodes.As[nodes.Network](fleet)
	if !has {
		return fmt.Errorf("shape links: %s", cutting().what)
	}
	l.shaping.Lock()
	defer l.shaping.Unlock()
	all := l.merge(in, rules)
	places := map[string]bool{nodes.Clients: true}
	for _, node := range fleet.Nodes() {
		places[node.Name] = true
	}
	// Rules may refer to nodes that have left.
	maps.DeleteFunc(all, func(link nodes.Link, _ nodes.Rule) bool { return !places[link.From] || !places[link.To] })
	return network.Shape(ctx, all)
}

// merge records the rules of one injection and returns those of all injections, with the worst rule
// for each link. It returns nil if there are none.
func (l *ledger) merge(in *Injection, rules map[nodes.Link]nodes.Rule) map[nodes.Link]nodes.Rule {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rules == nil {
		l.rules = map[*Injection]map[nodes.Link]nodes.Rule{}
	}
	l.rules[in] = rules
	if rules == nil {
		delete(l.rules, in)
	}
	if len(l.rules) == 0 {
		return nil
	}
	all := map[nodes.Link]nodes.Rule{}
	for _, of := range l.rules {
		for link, rule := range of {
			all[link] = worst(all[link], rule)
		}
	}
	return all
}

// worst returns a rule that combines the effects of both.
func worst(a, b nodes.Rule) nodes.Rule {
	rate := max(a.Rate, b.Rate)
	if a.Rate > 0 && b.Rate > 0 { // 0 means no limit
		rate = min(a.Rate, b.Rate)
	}
	return nodes.Rule{
		Drop: a.Drop || b.Drop, Delay: max(a.Delay, b.Delay), Jitter: max(a.Jitter, b.Jitter), Loss: max(a.Loss, b.Loss),
		Reorder: max(a.Reorder, b.Reorder), Duplicate: max(a.Duplicate, b.Duplicate), Rate: rate,
	}
}
