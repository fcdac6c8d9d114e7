package gossip

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"quorate/cluster/roster"
)

const (
	// announceTimeout bounds the wait until a change of this node's meta, or its departure, has
	// reached another node.
	announceTimeout = time.Second
	// exchangesQueued bounds the addresses queued by Exchange.
	exchangesQueued = 16
)

// Roster is what gossip needs of roster.Roster: which node may use which name, and the record that
// members exchange.
type Roster interface {
	Admit(name, nodeID string) error
	Record() roster.Record
	Merge(roster.Record) error
}

// Config is what a Gossip needs.
type Config struct {
	Self          Meta
	Addr          string // host:port to listen on
	AdvertiseHost string // where it differs from Addr's; a name or an address
	Join          []string
	Remembered    func() []string // addresses of members known before, to join as well; may be nil
	Key           []byte          // 32 bytes
	WAN           bool
	Scale         float64 // of all timeouts
	Roster        Roster
	Logger        *slog.Logger
	Registerer    prometheus.Registerer
}

// announced is this node's meta and its encoding, replaced together.
type announced struct {
	meta    Meta
	encoded []byte
}

// Gossip is this node's participation in the gossip of its cluster. All methods are safe for
// concurrent use.
type Gossip struct {
	cfg       Config
	table     *memberTable
	starts    *starts
	metrics   *metrics
	key       messageKey
	attempt   attempt
	findings  chan finding
	self      atomic.Pointer[announced]
	firstMet  atomic.Pointer[string] // the first cluster that a node announced, while this node has none
	list      atomic.Pointer[memberlist.Memberlist]
	addr      string // set before list; the library rewrites its own copy with each announcement
	ready     chan struct{}
	refused   chan error // holds the first refusal
	exchanges chan string

	mergesRefused atomic.Int64 // by NotifyMerge, because of another cluster

	announceMu sync.Mutex // one announcement at a time

	merging sync.Mutex // held while a member's roster is merged
	ended   bool       // nothing is merged any more; guarded by merging
}

// New checks the configuration. It starts nothing and binds no address.
func New(cfg Config) (*Gossip, error) {
	if err := cfg.Self.fits(); err != nil {
		return nil, err
	}
	key, err := newMessageKey(cfg.Key)
	if err != nil {
		return nil, err
	}
	g := &Gossip{
		cfg:       cfg,
		key:       key,
		table:     newMemberTable(),
		starts:    newStarts(),
		findings:  make(chan finding, findingsQueued),
		ready:     make(chan struct{}),
		refused:   make(chan error, 1),
		exchanges: make(chan string, exchangesQueued),
	}
	if err := g.set(cfg.Self); err != nil {
		return nil, err
	}
	g.metrics = newMetrics(cfg.Registerer, g)
	return g, nil
}

// Run takes part in gossip until ctx ends, and then announces that this node has stopped. It
// returns *Refused if another node has the right to this node's name or identity.
func (g *Gossip) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	list, stopped, err := g.start(ctx)
	if ctx.Err() != nil && list == nil {
		return nil // stopped while it waited for a name to resolve
	}
	if err != nil {
		return err
	}
	defer stopped() // after end
	g.addr = list.LocalNode().Address()
	g.list.Store(list)
	close(g.ready)
	group, working := errgroup.WithContext(ctx)
	group.Go(func() error { return g.writeFindings(working) })
	group.Go(func() error { return g.keepJoining(working, list) })
	group.Go(func() error { return g.runExchanges(working, list) })
	group.Go(func() error {
		select {
		case err := <-g.refused:
			return err
		case <-working.Done():
			return nil
		}
	})
	err = group.Wait()
	return errors.Join(err, g.end(list))
}

// end announces that this node leaves gossip, and stops memberlist. An announcement that reached no
// node is no error: the others will find this node dead.
func (g *Gossip) end(list *memberlist.Memberlist) error {
	if err := list.Leave(g.scaled(announceTimeout)); err != nil {
		g.cfg.Logger.Debug("announce the end of gossip", "reason", err)
	}
	if err := list.Shutdown(); err != nil {
		return fmt.Errorf("stop gossip: %w", err)
	}
	g.endMerges()
	return nil
}

// endMerges waits for the merge that is under way, and lets none begin: the library does not wait for
// the exchanges that it has accepted.
func (g *Gossip) endMerges() {
	g.merging.Lock()
	defer g.merging.Unlock()
	g.ended = true
}

// Ready returns a channel that is closed once the gossip address is bound.
func (g *Gossip) Ready() <-chan struct{} { return g.ready }

// Addr returns the address at which others reach this node, "" before Ready.
func (g *Gossip) Addr() string {
	if g.list.Load() == nil {
		return ""
	}
	return g.addr
}

// Self returns the meta that this node announces.
func (g *Gossip) Self() Meta { return g.self.Load().meta }

// Members returns the other nodes known, by name. It omits nodes of other clusters, nodes that do
// not own their name, and former starts of this node, which others may still report.
func (g *Gossip) Members() []Member {
	all := g.table.members()
	kept := all[:0]
	for _, m := range all {
		if m.NodeID != g.cfg.Self.NodeID && !g.foreign(m.Meta) && g.cfg.Roster.Admit(m.Name, m.NodeID) == nil {
			kept = append(kept, m)
		}
	}
	return kept
}

// Changed returns a channel that is closed at the next change of the members. Call it before
// Members.
func (g *Gossip) Changed() <-chan struct{} { return g.table.watch() }

// Cluster returns the cluster that this node belongs to or waits for; while there is none, the
// first one that a node announced. It refuses nodes of other clusters.
func (g *Gossip) Cluster() string {
	if c := g.self.Load().meta.Cluster; c != "" {
		return c
	}
	if met := g.firstMet.Load(); met != nil {
		return *met
	}
	return ""
}

// settleOn records the first cluster that a node announced, so that a node that reaches two
// clusters does not connect them.
func (g *Gossip) settleOn(cluster string) {
	if cluster != "" && g.self.Load().meta.Cluster == "" {
		g.firstMet.CompareAndSwap(nil, &cluster)
	}
}

// Announce changes this node's meta, and waits until another node has received it, or for a second.
func (g *Gossip) Announce(ctx context.Context, change func(*Meta)) error {
	g.announceMu.Lock()
	defer g.announceMu.Unlock()
	next := g.self.Load().meta
	change(&next)
	if next == g.self.Load().meta {
		return nil
	}
	if err := g.set(next); err != nil {
		return err
	}
	g.table.touch()
	list := g.list.Load()
	if list == nil || ctx.Err() != nil {
		return ctx.Err() // Run will announce it
	}
	if err := list.UpdateNode(g.scaled(announceTimeout)); err != nil {
		g.cfg.Logger.Debug("announce a change of this node", "reason", err) // the next exchange of state includes it
	}
	return nil
}

func (g *Gossip) set(m Meta) error {
	encoded, err := m.encode()
	if err != nil {
		return err
	}
	g.self.Store(&announced{m, encoded})
	return nil
}

func (g *Gossip) view() view {
	return view{self: g.self.Load().meta, cluster: g.Cluster(), admit: g.cfg.Roster.Admit, alive: g.table.alive, over: g.starts.over}
}

func (g *Gossip) foreign(m Meta) bool {
	mine := g.Cluster()
	return mine != "" && m.Cluster != "" && m.Cluster != mine
}

func (g *Gossip) isSelf(gossipName string) bool { return gossipName == g.cfg.Self.gossipName() }

// fail ends Run with err. A node that is leaving ends by itself, and learns by gossip that it is
// barred, which is no failure.
func (g *Gossip) fail(err error) {
	if g.self.Load().meta.Leaving {
		return
	}
	select {
	case g.refused <- err:
	default:
	}
}

func (g *Gossip) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) * g.cfg.Scale)
}

func (g *Gossip) health() float64 {
	if list := g.list.Load(); list != nil {
		return float64(list.GetHealthScore())
	}
	return 0
}

func (g *Gossip) count() (alive, dead float64) {
	alive = 1
	for _, m := range g.Members() {
		if m.Alive {
			alive++
		} else {
			dead++
		}
	}
	return alive, dead
}

// Exchange exchanges the whole state with the node at an address, in the background. Run does so at
// intervals with a random member.
func (g *Gossip) Exchange(addr string) {
	select {
	case g.exchanges <- addr:
	default: // the queue is full; the next exchange at an interval does it
	}
}

func (g *Gossip) runExchanges(ctx context.Context, list *memberlist.Memberlist) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case addr := <-g.exchanges:
			if _, err := list.Join([]string{addr}); err != nil {
				g.cfg.Logger.Debug("exchange state with a node", "addr", addr, "reason", err)
			}
		}
	}
}
