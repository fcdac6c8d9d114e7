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

// Mutation is a rule that a run breaks on purpose, around the product or in the model below it.
type Mutation string

// The mutations.
const (
	None Mutation = ""
	// Of the state machine: a node that is not shown an entry, or another one than the rest.
	SkipEntry  Mutation = "skip an entry"
	ChangeByte Mutation = "change a byte"
	SkipPin    Mutation = "skip a pin"
	// Of snapshots.
	LoseObject   Mutation = "lose an object in a snapshot"
	ForgetFailed Mutation = "forget failed entries in a snapshot"
	KeepOldState Mutation = "keep the old state at a restore"
	// Of history.
	SkipOnDisk  Mutation = "skip an entry on disk"
	HideTrimmed Mutation = "hide that the log was trimmed"
	ResumeLate  Mutation = "resume a watch late"
	// Of Raft.
	MiscountQuorum Mutation = "miscount a quorum"
	AckBeforeSync  Mutation = "acknowledge before the sync"
	VoteTwice      Mutation = "vote twice in a term"
	IgnoreLog      Mutation = "vote for who lacks entries"
	// Of the choice of voters.
	ChangeTwoAtOnce Mutation = "change the configuration while it changes"
	RemoveTwo       Mutation = "remove two servers at once"
	HastyDeath      Mutation = "take who is silent for dead for long"
	DeadInstaller   Mutation = "take who has no state yet for dead"
	ForgetReplica   Mutation = "forget who is never to vote"
	ForgetExpected  Mutation = "forget how many voters are expected"
	// ForgetDepartures is a leader that does not read who was removed.
	ForgetDepartures Mutation = "forget who was removed"
	NobodyDies       Mutation = "take the dead for alive"
	NobodyJoins      Mutation = "take no new members"
)

// Mutations returns all of them.
func Mutations() []Mutation {
	return []Mutation{
		SkipEntry, ChangeByte, SkipPin, LoseObject, ForgetFailed, KeepOldState, SkipOnDisk, HideTrimmed, ResumeLate, MiscountQuorum,
		AckBeforeSync, VoteTwice, IgnoreLog, ChangeTwoAtOnce, RemoveTwo, HastyDeath, DeadInstaller, ForgetReplica, ForgetExpected, ForgetDepartures,
		NobodyDies, NobodyJoins,
	}
}

func (w *World) breaks(m Mutation) bool { return w.opts.Mutation == m }

// broken returns what the state machine is shown of an entry: nil for nothing.
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

// brokenSnapshot returns what is written of a snapshot.
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

// breakMember changes what package voters is told of a member.
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

// brokenChange returns the configuration that a change is to make.
func (p *process) brokenChange(c *change, servers []raft.Server) []raft.Server {
	if !p.w.breaks(RemoveTwo) || c.kind != remove {
		return servers
	}
	return slices.DeleteFunc(servers, func(s raft.Server) bool {
		a := p.table[string(s.ID)]
		return string(s.ID) != p.node.name && (a == nil || !a.alive)
	})
}
