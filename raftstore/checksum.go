package raftstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"quorate/proto/peerpb"
	"quorate/raftstore/fsm"
	"quorate/raftstore/state"
)

const (
	// DefaultChecksumInterval is how often the leader compares the states of all nodes.
	DefaultChecksumInterval = 5 * time.Minute
	// checksumLimit bounds one comparison: summing up takes a second or so for each GiB, on each node. It is shorter than the minute that an
	// operator's command has, so that the answer says which node did not come so far.
	checksumLimit = 50 * time.Second
)

// Checksum is what one node's state sums up to.
type Checksum struct {
	Name string
	Sum  uint64
	Err  error // why there is none: the node did not answer, does not keep the state, or sums up in another way
}

// Comparison is of the states of all nodes after one log entry, by name.
type Comparison struct {
	Index uint64
	Nodes []Checksum
}

// Diverged returns the nodes whose state is another than that of most; where no state is that of most, all that have one. Replicas that
// applied the same entries must be equal, so a node's memory or disk has lied, or the program is wrong.
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

// summing sums up one state at a time, and remembers the last.
type summing struct {
	mu    sync.Mutex
	index uint64 // guarded by mu
	sum   uint64 // of the state after index; guarded by mu
}

func (m *summing) of(root *state.Root) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.index != root.Index() {
		m.index, m.sum = root.Index(), fsm.Checksum(root)
	}
	return m.sum
}

// CompareChecksums pins a state, has every node sum up its own copy in the background, and compares. Any node may be asked. Errors are
// Pin's; a node that doesn't answer is part of the result.
func (s *Store) CompareChecksums(ctx context.Context) (*Comparison, error) {
	root, err := s.Pin(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, checksumLimit)
	defer cancel()
	peers := s.members.Others()
	answers := make(chan Checksum, len(peers))
	for _, peer := range peers {
		entered := s.life.Go(func() { answers <- s.askChecksum(ctx, string(peer.ID), s.members.AddressOf(peer), root.Index()) })
		if !entered {
			return nil, ErrClosed
		}
	}
	result := &Comparison{Index: root.Index(), Nodes: []Checksum{{Name: s.cfg.Name, Sum: s.sums.of(root)}}}
	for range peers {
		result.Nodes = append(result.Nodes, <-answers)
	}
	slices.SortFunc(result.Nodes, func(a, b Checksum) int { return cmp.Compare(a.Name, b.Name) })
	return result, nil
}

func (s *Store) askChecksum(ctx context.Context, name, address string, index uint64) Checksum {
	answer, err := s.peers.Checksum(ctx, name, address, &peerpb.ChecksumRequest{ClusterId: s.ClusterID(), Index: index})
	if err == nil && answer.GetFormat() != fsm.ChecksumFormat {
		err = fmt.Errorf("%s sums up in format %d, this node in %d: they run different versions", name, answer.GetFormat(), fsm.ChecksumFormat)
	}
	return Checksum{Name: name, Sum: answer.GetSum(), Err: err}
}

// Checksum sums up a state that this node keeps, once it has come so far.
func (p rpc) Checksum(ctx context.Context, req *peerpb.ChecksumRequest) (*peerpb.ChecksumResponse, error) {
	if err := p.admit(req.GetClusterId()); err != nil {
		return nil, status.Error(codes.FailedPrecondition, err.Error())
	}
	if err := p.store.reader.Await(ctx, req.GetIndex()); err != nil {
		return nil, status.Error(codes.Unavailable, err.Error())
	}
	root := p.store.Retained(req.GetIndex())
	if root == nil {
		return nil, status.Error(codes.NotFound, "that state is not kept here")
	}
	return &peerpb.ChecksumResponse{Format: fsm.ChecksumFormat, Sum: p.store.sums.of(root)}, nil
}

// watchChecksums compares the nodes' states while this node leads, ChecksumInterval after it last did, or began to run. The
// time counts on while others lead: each new leader would begin the interval anew otherwise, and where leaders change more often
// than that, nobody would ever compare. Until ctx ends.
func (s *Store) watchChecksums(ctx context.Context) error {
	due := time.Now().Add(s.cfg.ChecksumInterval)
	return s.WhileLeader(ctx, func(ctx context.Context) error {
		defer s.tellDiverged(&Comparison{}) // the next leader says
		timer := time.NewTimer(time.Until(due))
		defer timer.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-timer.C:
			}
			s.checkOnce(ctx)
			if ctx.Err() != nil {
				return nil // cut short, and still due
			}
			due = time.Now().Add(s.cfg.ChecksumInterval)
			timer.Reset(s.cfg.ChecksumInterval)
		}
	})
}

func (s *Store) checkOnce(ctx context.Context) {
	c, err := s.CompareChecksums(ctx)
	if err != nil {
		s.metrics.comparisons.WithLabelValues("failed").Inc()
		if ctx.Err() == nil {
			s.logger.Warn("states of the nodes not compared", "error", err)
		}
		return
	}
	result := "equal"
	if s.tellDiverged(c) > 0 {
		result = "diverged"
	}
	s.metrics.comparisons.WithLabelValues(result).Inc()
}

// tellDiverged raises the alarm about the nodes that have diverged, clears it about all others, and returns how many have.
func (s *Store) tellDiverged(c *Comparison) int {
	var sums []string
	for _, n := range c.Nodes {
		if n.Err == nil {
			sums = append(sums, fmt.Sprintf("%s=%016x", n.Name, n.Sum))
		}
	}
	diverged := c.Diverged()
	messages := map[string]string{}
	for _, name := range diverged {
		messages[name] = fmt.Sprintf("the state of %s differs from that of most nodes after entry %d (%s): stop it, remove it, "+
			"and start it with an empty data directory", name, c.Index, strings.Join(sums, ", "))
		if len(diverged) == len(sums) { // who emptied all of them would lose everything
			messages[name] = fmt.Sprintf("the states of the nodes that answer differ after entry %d, and none is that of most (%s): "+
				"have the other nodes answer, and empty no data directory before most agree", c.Index, strings.Join(sums, ", "))
		}
	}
	s.metrics.diverged.Set(float64(len(messages)))
	s.alarms.Set(Diverged, messages)
	return len(messages)
}
