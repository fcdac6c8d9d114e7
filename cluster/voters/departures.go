package voters

import (
	"context"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"quorate/cluster/roster"
)

// Every node notes which start of which member leaves, from the configurations that it applies.
// Gossip may report that a member was removed only after Raft has made this node the leader, and
// the removed node may still run: without the note the new leader would add it again. The notes do
// not come from Store.Servers, which returns the latest configuration: that may be uncommitted and
// truncated later.

// followConfigurations notes departures until ctx ends, on the leader and on all other nodes.
func (v *Voters) followConfigurations(ctx context.Context) error {
	for {
		changed := v.cfg.Changed()
		v.change.lock()
		more := v.noteDepartures()
		v.change.unlock()
		select {
		case <-ctx.Done():
			return nil
		case <-more:
		case <-changed:
		}
	}
}

// noteDepartures takes the configurations that were applied since the last call, and notes each
// server that one of them lacks and its predecessor had. It returns a channel that is closed when
// there are more. The caller holds change.
//
// A snapshot from another node hides the configurations that it covers. A member that left and
// joined again in between, or was replaced by another node of its name, is then not noted.
func (v *Voters) noteDepartures() (more <-chan struct{}) {
	taken, more := v.cfg.Store.TakeConfigurations()
	for _, c := range taken {
		for _, name := range v.configured {
			if !configures(c.Servers, name) {
				v.noteDeparture(name, c.Appended)
			}
		}
		v.configured = nil
		for _, s := range c.Servers {
			v.configured = append(v.configured, string(s.ID))
		}
	}
	v.forgetLeaving()
	v.saveDepartures()
	return more
}

// noteDeparture notes the start of a member that left by an entry appended at that time. It notes
// only a start that gossip had reported before. A later report may be of a start after the
// departure, as when this node catches up, or applies its log again after a restart: that start may
// join, and the notes from before the restart are on the disk.
func (v *Voters) noteDeparture(name string, appended time.Time) {
	owner := v.ownerOf(name)
	for _, m := range v.cfg.Members() {
		departed := m.NodeID == owner || owner == "" && m.Name == name // a new cluster may not have bound its names yet
		if departed && m.Heard.Before(appended) {
			v.departed = v.departed.With(roster.Departure{NodeID: m.NodeID, Start: m.Start})
			v.unsaved = true
		}
	}
}

// forgetLeaving drops the notes of nodes that announce that they leave. No leader adds them while
// they do, and a node whose request to leave fails withdraws the announcement and stays a member.
func (v *Voters) forgetLeaving() {
	for _, m := range v.cfg.Members() {
		if _, noted := v.departed.Start(m.NodeID); noted && m.Leaving {
			v.departed = v.departed.Without(m.NodeID)
			v.unsaved = true
		}
	}
}

// saveDepartures writes new notes to the disk. If that fails, the next call tries again; until then
// only this process knows them.
func (v *Voters) saveDepartures() {
	if !v.unsaved {
		return
	}
	if err := v.cfg.Roster.SetDepartures(v.departed); err != nil {
		v.cfg.Logger.Warn("note the members that left", "error", err)
		return
	}
	v.unsaved = false
}

func configures(servers []raft.Server, name string) bool {
	return slices.ContainsFunc(servers, func(s raft.Server) bool { return string(s.ID) == name })
}
