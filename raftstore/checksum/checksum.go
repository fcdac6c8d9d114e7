package checksum

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"quorate/proto/peerpb"
	"quorate/raftstore/diskguard"
	"quorate/raftstore/failure"
	"quorate/raftstore/forward"
	"quorate/raftstore/fsm"
	"quorate/raftstore/leadership"
	"quorate/raftstore/lifecycle"
	"quorate/raftstore/membership"
	"quorate/raftstore/read"
	"quorate/raftstore/state"
)

const (
	// DefaultInterval is the default time between the leader's comparisons.
	DefaultInterval = 5 * time.Minute
	// recheck divides the interval after a comparison that found a divergence, so that the alarm
	// clears soon after the repair.
	recheck = 10
	// limit bounds one comparison. A checksum takes about a second for each GiB on each node. The
	// limit is shorter than the minute that an operator's command waits, so that its result names
	// the nodes that did not finish.
	limit = 50 * time.Second
)

// Checksum is the checksum of one node's state.
type Checksum struct {
	Name string
	Sum  uint64
	Err  error // why Sum is missing: the node did not respond, does not retain the state, or uses another format
}

// Comparison has the checksums of all nodes' states after one log entry, sorted by name.
type Comparison struct {
	Index uint64
	Nodes []Checksum
}

// Diverged returns the nodes whose checksum differs from that of more than half of the nodes that
// have one. If no checksum is that of more than half, it returns all nodes that have one. Nodes
// that applied the same entries must be equal, so a divergence means faulty memory, a faulty disk
// or a bug.
func (c *Comparison) Diverged() (names []string) {
	count := map[uint64]int{}
	known := 0
	for _, n := range c.Nodes {
		if n.Err == nil {
			count[n.Sum]++
			known++
		}
	}
	for _, n := range c.Nodes {
		if n.Err == nil && 2*count[n.Sum] <= known {
			names = append(names, n.Name)
		}
	}
	return names
}

// Comparer compares the states of all nodes. All methods are safe for concurrent use.
type Comparer struct {
	cfg     Config
	metrics *metrics

	mu    sync.Mutex // held while a checksum is computed, so that only one is at a time
	index uint64     // guarded by mu
	sum   uint64     // checksum of the state at index; guarded by mu
}

// Config configures a Comparer; all fields are required.
type Config struct {
	Members    *membership.Members
	Leadership *leadership.Leadership
	Lifecycle  *lifecycle.Lifecycle
	Peers      *forward.Client
	Reader     *read.Reader
	Pins       *read.Pins
	Retained   *read.Retained
	Alarms     *diskguard.Alarms
	// Interval is the time between the leader's comparisons.
	Interval   time.Duration
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// New returns a Comparer.
func New(cfg Config) *Comparer {
	return &Comparer{cfg: cfg, metrics: newMetrics(cfg.Registerer)}
}

// of returns the checksum of a state. It caches the last one.
func (c *Comparer) of(root *state.Root) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.index != root.Index() {
		c.index, c.sum = root.Index(), fsm.Checksum(root)
	}
	return c.sum
}

// Compare pins a state, has every node compute the checksum of its own copy, and returns the
// checksums. Any node may call it. A node that does not respond is part of the result. If the state
// can't be pinned, Compare returns the error of Pins.Pin, and failure.ErrClosed if the store is
// closing.
func (c *Comparer) Compare(ctx context.Context) (*Comparison, error) {
	root, err := c.cfg.Pins.Pin(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	peers := c.cfg.Members.Others()
	responses := make(chan Checksum, len(peers))
	for _, peer := range peers {
		name, address := string(peer.ID), c.cfg.Members.AddressOf(peer)
		if !c.cfg.Lifecycle.Go(func() { responses <- c.ask(ctx, name, address, root.Index()) }) {
			return nil, failure.ErrClosed
		}
	}
	result := &Comparison{Index: root.Index(), Nodes: []Checksum{{Name: c.cfg.Members.Name(), Sum: c.of(root)}}}
	for range peers {
		result.Nodes = append(result.Nodes, <-responses)
	}
	slices.SortFunc(result.Nodes, func(a, b Checksum) int { return cmp.Compare(a.Name, b.Name) })
	return result, nil
}

func (c *Comparer) ask(ctx context.Context, name, address string, index uint64) Checksum {
	resp, err := c.cfg.Peers.Checksum(ctx, name, address, &peerpb.ChecksumRequest{ClusterId: c.cfg.Members.ClusterID(), Index: index})
	if err == nil && resp.GetFormat() != fsm.ChecksumFormat {
		err = fmt.Errorf("%s computes checksums in format %d, this node in %d: they run different versions", name, resp.GetFormat(), fsm.ChecksumFormat)
	}
	return Checksum{Name: name, Sum: resp.GetSum(), Err: err}
}

// Serve returns the checksum of a state that this node retains, once this node has applied the
// state's index. Errors are gRPC statuses: Unavailable if ctx ends or the store closes before that,
// NotFound if this node does not retain the state.
func (c *Comparer) Serve(ctx context.Context, index uint64) (*peerpb.ChecksumResponse, error) {
	if err := c.cfg.Reader.Await(ctx, index); err != nil {
		return nil, status.Error(codes.Unavailable, err.Error())
	}
	root := c.cfg.Retained.Get(index)
	if root == nil {
		return nil, status.Error(codes.NotFound, "that state is not kept here")
	}
	return &peerpb.ChecksumResponse{Format: fsm.ChecksumFormat, Sum: c.of(root)}, nil
}

// Run compares the nodes' states while this node leads, until ctx ends. A comparison is due one
// interval after Run is called, and one interval after each comparison on this node has ended, or a
// tenth of it if nodes have diverged. The interval continues while other nodes lead. If each change
// of leader restarted it, a cluster whose leaders change more often than that would never compare
// states.
func (c *Comparer) Run(ctx context.Context) error {
	due := time.Now().Add(c.cfg.Interval)
	return c.cfg.Leadership.WhileLeader(ctx, func(ctx context.Context) error {
		defer c.alarm(&Comparison{}) // the next leader raises its own alarms
		timer := time.NewTimer(time.Until(due))
		defer timer.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-timer.C:
			}
			pause := c.pause(c.check(ctx))
			if ctx.Err() != nil {
				return nil // interrupted; the comparison is still due
			}
			due = time.Now().Add(pause)
			timer.Reset(pause)
		}
	})
}

// pause returns the time until the next comparison after one that found so many diverged nodes.
func (c *Comparer) pause(diverged int) time.Duration {
	if diverged > 0 {
		return c.cfg.Interval / recheck
	}
	return c.cfg.Interval
}

// check compares the states once, and returns the number of diverged nodes.
func (c *Comparer) check(ctx context.Context) (diverged int) {
	compared, err := c.Compare(ctx)
	if err != nil {
		c.metrics.comparisons.WithLabelValues("failed").Inc()
		if ctx.Err() == nil {
			c.cfg.Logger.Warn("could not compare the states of the nodes", "error", err)
		}
		return 0
	}
	result := "equal"
	if diverged = c.alarm(compared); diverged > 0 {
		result = "diverged"
	}
	c.metrics.comparisons.WithLabelValues(result).Inc()
	return diverged
}

// alarm raises the alarm about the nodes that have diverged, clears it about all others, and
// returns the number of diverged nodes.
func (c *Comparer) alarm(compared *Comparison) int {
	var sums []string
	for _, n := range compared.Nodes {
		if n.Err == nil {
			sums = append(sums, fmt.Sprintf("%s=%016x", n.Name, n.Sum))
		}
	}
	diverged := compared.Diverged()
	messages := map[string]string{}
	for _, name := range diverged {
		messages[name] = fmt.Sprintf("the state of %s differs from that of most nodes after entry %d (%s)", name, compared.Index, strings.Join(sums, ", "))
		if len(diverged) == len(sums) {
			messages[name] = fmt.Sprintf("the states of the nodes that respond differ after entry %d, and none is that of most (%s)", compared.Index, strings.Join(sums, ", "))
		}
	}
	c.metrics.diverged.Set(float64(len(messages)))
	c.cfg.Alarms.Set(diskguard.Diverged, messages)
	return len(messages)
}
