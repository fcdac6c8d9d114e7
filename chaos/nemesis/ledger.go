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

// Record describes one strike in a report.
type Record struct {
	Fault string   `json:"fault"`
	Nodes []string `json:"nodes,omitempty"` // nodes that were struck, in that order
	Notes []string `json:"notes,omitempty"` // further decisions and events
	// Forgot lists the nodes that may have lost their log, or replaced it by a snapshot. They may
	// reject older positions as too old.
	Forgot []string `json:"forgot,omitempty"`
	// Skewed means that clocks jumped, which affects what nodes keep for some minutes.
	Skewed bool      `json:"skewed,omitempty"`
	At     time.Time `json:"at"`
	Healed time.Time `json:"healed"` // zero if the strike is not healed yet
	// Bound is that of the fault. Survivable means that writes had to continue.
	Bound      Bound `json:"-"`
	Survivable bool  `json:"-"`
}

// ledger records the active and the past strikes, and what the active ones have claimed.
type ledger struct {
	mu     sync.Mutex
	claims map[string]*Strike                    // strikes by what they have claimed; guarded by mu
	rules  map[*Strike]map[nodes.Link]nodes.Rule // guarded by mu
	active []*Strike                             // guarded by mu
	past   []Record                              // records of healed strikes; guarded by mu

	// shaping serializes computing all rules and setting them in the network.
	shaping sync.Mutex
}

// claim reserves something for the strike until it is healed. It returns false if another strike
// has reserved it.
func (l *ledger) claim(s *Strike, what string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if owner := l.claims[what]; owner != nil && owner != s {
		return false
	}
	if l.claims == nil {
		l.claims = map[string]*Strike{}
	}
	l.claims[what] = s
	return true
}

func (l *ledger) begin(s *Strike) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.active = append(l.active, s)
}

// end releases everything that the strike has claimed. If keep is set, it keeps the strike's
// record.
func (l *ledger) end(s *Strike, keep bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.claims, func(_ string, owner *Strike) bool { return owner == s })
	before := len(l.active)
	l.active = slices.DeleteFunc(l.active, func(other *Strike) bool { return other == s })
	if !keep || len(l.active) == before {
		return
	}
	s.record.Healed = time.Now()
	l.past = append(l.past, s.record.clone())
}

func (l *ledger) note(s *Strike, node, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if node != "" && !slices.Contains(s.record.Nodes, node) {
		s.record.Nodes = append(s.record.Nodes, node)
	}
	if text != "" {
		s.record.Notes = append(s.record.Notes, text)
	}
}

// forgot records nodes that may have lost their log.
func (l *ledger) forgot(s *Strike, names ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range names {
		if !slices.Contains(s.record.Forgot, name) {
			s.record.Forgot = append(s.record.Forgot, name)
		}
	}
}

// compacted reports whether the log of some node may begin with a snapshot.
func (l *ledger) compacted() bool {
	return slices.ContainsFunc(l.records(), func(r Record) bool { return len(r.Forgot) > 0 })
}

func (l *ledger) skewed(s *Strike) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.record.Skewed = true
}

func (l *ledger) strikes() []*Strike {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.active)
}

func (l *ledger) records() []Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	records := slices.Clone(l.past)
	for _, s := range l.active {
		records = append(records, s.record.clone())
	}
	slices.SortStableFunc(records, func(a, b Record) int { return cmp.Compare(a.At.UnixNano(), b.At.UnixNano()) })
	return records
}

func (r Record) clone() Record {
	r.Nodes, r.Notes, r.Forgot = slices.Clone(r.Nodes), slices.Clone(r.Notes), slices.Clone(r.Forgot)
	return r
}

// shape sets the rules of one strike, or removes them if rules is nil, and updates the network with
// the rules of all strikes.
func (l *ledger) shape(ctx context.Context, fleet nodes.Fleet, s *Strike, rules map[nodes.Link]nodes.Rule) error {
	network, has := nodes.As[nodes.Network](fleet)
	if !has {
		return fmt.Errorf("shape links: %s", cutting().what)
	}
	l.shaping.Lock()
	defer l.shaping.Unlock()
	all := l.merge(s, rules)
	places := map[string]bool{nodes.Clients: true}
	for _, node := range fleet.Nodes() {
		places[node.Name] = true
	}
	// Rules may refer to nodes that have left.
	maps.DeleteFunc(all, func(link nodes.Link, _ nodes.Rule) bool { return !places[link.From] || !places[link.To] })
	return network.Shape(ctx, all)
}

// merge records the rules of one strike and returns those of all strikes, with the worst rule for
// each link. It returns nil if there are none.
func (l *ledger) merge(s *Strike, rules map[nodes.Link]nodes.Rule) map[nodes.Link]nodes.Rule {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rules == nil {
		l.rules = map[*Strike]map[nodes.Link]nodes.Rule{}
	}
	l.rules[s] = rules
	if rules == nil {
		delete(l.rules, s)
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
