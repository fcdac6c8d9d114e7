package gossip

import (
	"encoding/json"
	"time"

	"github.com/hashicorp/memberlist"

	"quorate/cluster/roster"
)

// state is what nodes exchange in addition to memberlist's own state.
type state struct {
	Cluster string        `json:"cluster"`
	Roster  roster.Record `json:"roster"`
}

// delegate has the methods that memberlist calls, most of them under its lock.
type delegate struct{ g *Gossip }

var (
	_ memberlist.Delegate      = delegate{}
	_ memberlist.EventDelegate = delegate{}
	_ memberlist.AliveDelegate = delegate{}
	_ memberlist.MergeDelegate = delegate{}
)

func (d delegate) NodeMeta(int) []byte { return d.g.self.Load().encoded }

func (d delegate) NotifyMsg([]byte) {}

func (d delegate) GetBroadcasts(int, int) [][]byte { return nil }

// LocalState returns the roster of a member. Other nodes send none: they only have what members
// sent.
func (d delegate) LocalState(bool) []byte {
	self := d.g.self.Load().meta
	if !self.Member || self.Cluster == "" {
		return nil
	}
	data, err := json.Marshal(state{Cluster: self.Cluster, Roster: d.g.cfg.Roster.Record()})
	if err != nil {
		d.g.report(finding{level: levelError, key: "encode", message: "encode the gossip state", reason: err.Error()})
		return nil
	}
	return data
}

func (d delegate) MergeRemoteState(data []byte, _ bool) {
	if len(data) == 0 {
		return
	}
	var s state
	if err := json.Unmarshal(data, &s); err != nil {
		d.g.report(finding{level: levelWarn, key: "state", message: "gossip state of a member is not readable", reason: err.Error()})
		return
	}
	if s.Cluster == "" || s.Cluster != d.g.Cluster() {
		return
	}
	d.g.merging.Lock()
	defer d.g.merging.Unlock()
	if d.g.ended {
		return
	}
	if err := d.g.cfg.Roster.Merge(s.Roster); err != nil {
		d.g.report(finding{level: levelError, key: "roster", message: "record the member list", reason: err.Error()})
		return
	}
	self := d.g.self.Load().meta
	if err := d.g.cfg.Roster.Admit(self.Name, self.NodeID); err != nil {
		d.g.fail(&Refused{err.Error()})
	}
}

// NotifyMerge is called when one node joins another, with the nodes that the other side knows. An
// error refuses the whole exchange. NotifyMerge returns one only if a live node belongs to another
// cluster, or if this node must end; NotifyAlive decides about each node.
func (d delegate) NotifyMerge(peers []*memberlist.Node) error {
	for _, peer := range peers { // dead ones too: a node that was started again since has no claim to a name, even if it has ended
		if m, err := decodeMeta(peer.Meta); err == nil {
			d.g.starts.observe(m, time.Now())
		}
	}
	for _, peer := range peers {
		if peer.State != memberlist.StateAlive && peer.State != memberlist.StateSuspect {
			continue
		}
		m, err := decodeMeta(peer.Meta)
		if err != nil || d.g.isSelf(peer.Name) {
			continue
		}
		verdict := admission(d.g.view(), m)
		if refused, ok := verdict.(*Refused); ok {
			d.g.fail(refused)
			return refused
		}
		if verdict != nil && d.g.foreign(m) {
			d.g.mergesRefused.Add(1)
			d.g.reportStranger(m, peer.Address(), verdict)
			return verdict
		}
	}
	return nil
}

func (d delegate) NotifyAlive(peer *memberlist.Node) error {
	if d.g.isSelf(peer.Name) {
		return nil
	}
	m, err := decodeMeta(peer.Meta)
	if err != nil {
		d.g.reportStranger(Meta{Name: peer.Name}, peer.Address(), err)
		return err
	}
	d.g.starts.observe(m, time.Now())
	switch verdict := admission(d.g.view(), m).(type) {
	case nil:
		d.g.settleOn(m.Cluster)
		return nil
	case *Refused:
		d.g.fail(verdict)
		return verdict
	default:
		d.g.reportStranger(m, peer.Address(), verdict)
		return verdict
	}
}

func (d delegate) NotifyJoin(n *memberlist.Node) { d.up(n) }

func (d delegate) NotifyUpdate(n *memberlist.Node) { d.up(n) }

func (d delegate) NotifyLeave(n *memberlist.Node) { d.g.table.down(n.Name, time.Now()) }

func (d delegate) up(n *memberlist.Node) {
	m, err := decodeMeta(n.Meta)
	if err != nil || d.g.isSelf(n.Name) {
		return // NotifyAlive has refused it
	}
	d.g.table.up(n.Name, n.Address(), m, time.Now())
}
