package simulation

import (
	"bytes"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"quorate/cluster/voters"
	"quorate/raftstore/fsm"
	"quorate/raftstore/snapshot"
	"quorate/raftstore/state"
)

// Mutation names a rule of Quorate that a run breaks, to test that the simulation detects it. The
// rule is broken around the product's code or in the model.
type Mutation string

// The mutations. None breaks no rule.
const (
	None Mutation = ""
	// The state machine of one node does not receive some entries, or receives others than the
	// rest.
	SkipEntry  Mutation = "skip an entry"
	ChangeByte Mutation = "change a byte"
	SkipPin    Mutation = "skip a pin"
	// Snapshots lack a part, or do not replace the state.
	LoseObject   Mutation = "lose an object in a snapshot"
	ForgetFailed Mutation = "forget failed entries in a snapshot"
	KeepOldState Mutation = "keep the old state at a restore"
	// History lacks events, or does not report that it does.
	SkipOnDisk  Mutation = "skip an entry on disk"
	HideTrimmed Mutation = "hide that the log was trimmed"
	ResumeLate  Mutation = "resume a watch late"
	// The model of Raft breaks a rule of the protocol.
	MiscountQuorum Mutation = "miscount a quorum"
	AckBeforeSync  Mutation = "acknowledge before the sync"
	VoteTwice      Mutation = "vote twice in a term"
	IgnoreLog      Mutation = "vote for a candidate that lacks entries"
	// Changes of the configuration break a rule.
	ChangeTwoAtOnce Mutation = "change the configuration while it changes"
	RemoveTwo       Mutation = "remove two servers at once"
	HastyDeath      Mutation = "count a silent member as dead for an hour"
	DeadInstaller   Mutation = "count a server without a state as dead"
	ForgetReplica   Mutation = "forget that a member must not vote"
	ForgetExpected  Mutation = "forget how many voters are expected"
	// With ForgetDepartures, leaders do not read which starts of nodes were removed.
	ForgetDepartures Mutation = "forget which starts were removed"
	NobodyDies       Mutation = "count dead members as alive"
	NobodyJoins      Mutation = "add no new members"
)

// Mutations returns all mutations except None.
func Mutations() []Mutation {
	return []Mutation{
		SkipEntry, ChangeByte, SkipPin, LoseObject, ForgetFailed, KeepOldState, SkipOnDisk, HideTrimmed, ResumeLate, MiscountQuorum,
		AckBeforeSync, VoteTwice, IgnoreLog, ChangeTwoAtOnce, RemoveTwo, HastyDeath, DeadInstaller, ForgetReplica, ForgetExpected, ForgetDepartures,
		NobodyDies, NobodyJoins,
	}
}

func (w *World) breaks(m Mutation) bool { return w.opts.Mutation == m }

// broken returns the entry that the state machine receives under the mutation, or nil for none.
func (p *process) broken(e *entry) *raft.Log {
	first := p.node == p.w.nodes[0]
	switch {
	case e.write == nil || !first:
	case p.w.breaks(SkipEntry) && e.write.op == opCreate && e.Index%8 == 0,
		p.w.breaks(SkipPin) && e.write.op == opPin:
		return nil
	case p.w.breaks(ChangeByte) && e.write.op == opUpdate && e.Index%8 == 0:
		changed := e.Log
		changed.Data = bytes.Replace(e.Data, []byte(`"n":"`), []byte(`"m":"`), 1)
		return &changed
	}
	return &e.Log
}

// brokenSnapshot returns the snapshot that is written under the mutation.
func (p *process) brokenSnapshot(whole []byte) []byte {
	if !p.w.breaks(LoseObject) && !p.w.breaks(ForgetFailed) {
		return whole
	}
	tree, err := fsm.ReadSnapshot(snapshot.NewReader(bytes.NewReader(whole)))
	if err != nil {
		p.w.violate("read a snapshot back: %v", err)
		return whole
	}
	if p.w.breaks(LoseObject) {
		var last state.Key
		tree.Publish().Ascend("", "", func(o *state.Object) bool { last = o.Key; return true })
		tree.Delete(last)
	} else {
		root := tree.Publish()
		loader, err := state.NewLoader(root.Index(), root.ClusterID(), nil, 0)
		if err != nil {
			p.w.violate("begin a state: %v", err)
			return whole
		}
		for index, seconds := range root.Times().All() {
			if err := loader.AddTime(index, seconds); err != nil {
				p.w.violate("time of entry %d: %v", index, err)
			}
		}
		root.Ascend("", "", func(o *state.Object) bool { return loader.Add(o) == nil })
		tree = loader.Tree()
	}
	var b bytes.Buffer
	out := snapshot.NewWriter(&b)
	if err := fsm.WriteSnapshot(out, tree.Publish()); err != nil {
		p.w.violate("write a snapshot: %v", err)
	}
	if err := out.Close(); err != nil {
		p.w.violate("write a snapshot: %v", err)
	}
	return b.Bytes()
}

// breakMember changes, under the mutation, what gossip reports of a member to package voters.
func (p *process) breakMember(m *voters.Member) {
	long := p.w.now().Add(-time.Hour)
	switch {
	case p.w.breaks(HastyDeath) && !m.Alive:
		m.Since = long
	case p.w.breaks(DeadInstaller) && m.Alive:
		if q := p.peer(m.Name); p.role == leader && (q == nil || q.match == 0) {
			m.Alive, m.Since = false, long
		}
	case p.w.breaks(ForgetReplica):
		m.NonVoter = false
	case p.w.breaks(NobodyDies):
		m.Alive = true
	case p.w.breaks(NobodyJoins):
		m.Cluster = "another"
	}
}

// brokenChange returns the configuration that a change makes under the mutation.
func (p *process) brokenChange(c *change, servers []raft.Server) []raft.Server {
	if !p.w.breaks(RemoveTwo) || c.kind != remove {
		return servers
	}
	return slices.DeleteFunc(servers, func(s raft.Server) bool {
		a := p.table[string(s.ID)]
		return string(s.ID) != p.node.name && (a == nil || !a.alive)
	})
}
