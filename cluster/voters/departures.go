package voters

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore"
	"quorate/raftstore/state"
)

// Gossip may report that a member was removed only after Raft has made another node the leader. If
// the removed node still runs, the new leader would add it again. So the leader writes each removal
// to the replicated log before it changes the configuration. Every later leader has applied that
// entry, or a snapshot that includes it, before it adds a member.

const (
	// maxDepartures bounds the departures kept; the oldest are dropped first.
	maxDepartures = 256
	// departureTimeout bounds the write of a departure, before scaling.
	departureTimeout = 10 * time.Second
)

// departuresKey is the key of the object that holds the departures. No API serves its resource, and
// only resources of kinds defined at run time contain two slashes.
var departuresKey = state.NewKey("cluster/departures", "", "departures")

// Departure is a node that the leader removes, or has removed.
type Departure struct {
	NodeID string `json:"nodeID"`
	// Start is the last start of the node that the leader knew. A later start may join again.
	Start uint64 `json:"start"`
	// Barred reports that no start of the node may join again.
	Barred bool `json:"barred,omitempty"`
}

// Departures are the newest departures, one for each node, oldest first.
type Departures []Departure

// bars reports whether a node may never join again.
func (d Departures) bars(nodeID string) bool {
	return slices.ContainsFunc(d, func(have Departure) bool { return have.NodeID == nodeID && have.Barred })
}

// With returns the departures with one more, which replaces an earlier one of the same node. A
// barred node remains barred. Of more than maxDepartures it drops the oldest.
func (d Departures) With(left Departure) Departures {
	left.Barred = left.Barred || d.bars(left.NodeID)
	others := slices.DeleteFunc(slices.Clone(d), func(have Departure) bool { return have.NodeID == left.NodeID })
	next := append(others, left)
	return next[max(0, len(next)-maxDepartures):]
}

// Refuse returns why an action must not be taken for a member, "" if it may. A departed start of a
// node is neither added nor followed to another address. No start of a barred node is added; a
// start later than the departed one is followed, because the node is still in the configuration if
// its removal failed.
func (d Departures) Refuse(kind Kind, m Member) string {
	i := slices.IndexFunc(d, func(have Departure) bool { return have.NodeID == m.NodeID })
	switch {
	case i < 0:
		return ""
	case d[i].Barred && kind == Add:
		return "the node has left the cluster or was removed from it; it may join with an empty data directory"
	case m.Start <= d[i].Start:
		return "this start of the node has left the cluster; a later one may join"
	}
	return ""
}

// departures returns the departures that this node has applied, and the object that holds them, nil
// if there is none yet.
func (v *Voters) departures(ctx context.Context) (Departures, *state.Object, error) {
	root, err := v.cfg.Store.View(ctx, raftstore.Cached())
	if err != nil {
		return nil, nil, err
	}
	o := root.Get(departuresKey)
	if o == nil {
		return nil, nil, nil
	}
	var content struct {
		Departures Departures `json:"departures"`
	}
	if err := json.Unmarshal(o.Value, &content); err != nil {
		return nil, nil, fmt.Errorf("decode the departures: %w", err)
	}
	return content.Departures, o, nil
}

// recordDeparture commits that a node departs, before its server is removed from the configuration.
// It records nothing if no start of the node is known that a leader could add, unless bar is set.
// If the removal then fails, the node is still a member; the record only prevents that this start
// is followed to another address. recordDeparture returns ErrNotLeader if the write may have to be
// repeated with another leader, or conflicts with departures that this node has not applied.
func (v *Voters) recordDeparture(ctx context.Context, nodeID string, bar bool) error {
	departed := Departure{NodeID: nodeID, Barred: bar}
	for _, m := range v.cfg.Members() {
		if m.NodeID == departed.NodeID {
			departed.Start = max(departed.Start, m.Start)
		}
	}
	if departed.NodeID == "" || departed.Start == 0 && !bar {
		return nil // no start is known that could be added
	}
	ctx, cancel := context.WithTimeout(ctx, max(v.scaled(departureTimeout), departureTimeout))
	defer cancel()
	before, stored, err := v.departures(ctx)
	if err != nil {
		return err
	}
	o, err := encodeDepartures(before.With(departed))
	if err != nil {
		return err
	}
	if stored == nil {
		_, err = v.cfg.Store.Create(ctx, raftstore.Create{Key: departuresKey, Object: o, Frees: true})
	} else {
		_, err = v.cfg.Store.Update(ctx, raftstore.Update{Key: departuresKey, Object: o, Previous: stored, Frees: true})
	}
	if err != nil {
		return departureError(fmt.Errorf("record that node %s leaves: %w", nodeID, err))
	}
	return nil
}

// finishRemovals bars, in the roster, the living nodes whose removal an earlier leader began and
// did not finish: they are barred in the departures, and no longer in the configuration. A node
// that learns by gossip that it is barred ends.
func (v *Voters) finishRemovals(d Departures, servers []raft.Server, members []Member) error {
	for _, m := range members {
		if Configures(servers, m.Name) || !m.Alive || !d.bars(m.NodeID) {
			continue
		}
		if err := v.cfg.Roster.Remove(m.NodeID); err != nil {
			return err
		}
	}
	return nil
}

// encodeDepartures returns the object that holds the departures.
func encodeDepartures(d Departures) (*state.Object, error) {
	list, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode the departures: %w", err)
	}
	const head = `{"resourceVersion":"`
	value := slices.Concat([]byte(head+`","departures":`), list, []byte("}"))
	return &state.Object{Value: value, VersionOffset: uint32(len(head))}, nil
}

// departureError joins ErrNotLeader to the errors of a write after which the operator's request can
// be repeated with the node that leads then.
func departureError(err error) error {
	_, exists := errors.AsType[*state.Exists](err)
	_, conflict := errors.AsType[*state.Conflict](err)
	if exists || conflict || errors.Is(err, raftstore.ErrUnavailable) || errors.Is(err, raftstore.ErrUnknownOutcome) {
		return errors.Join(ErrNotLeader, err)
	}
	return err
}
