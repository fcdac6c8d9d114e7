package offline

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/hashicorp/raft"

	"quorate/raftstore"
	"quorate/raftstore/fsm"
	"quorate/raftstore/log"
	"quorate/raftstore/snapshot"
	"quorate/raftstore/state"
)

// past is all that a Raft folder knows: the newest snapshot that is whole, and what the log has
// after it.
type past struct {
	tree        *state.Tree
	index, term uint64 // of the last entry, or of the snapshot
	members     raft.Configuration
}

// recallFrom opens the log, hands it to look, and reads the past. Of a log that can't be read, the
// snapshots are all there is.
func recallFrom(dir string, archive *snapshot.Archive, snapshots []snapshot.Examined, look func(*log.Store) error) (*past, error) {
	l, err := log.OpenReadOnly(log.Config{Path: filepath.Join(dir, raftstore.LogFile), Logger: silent()})
	if err != nil {
		p := &past{tree: state.NewTree()}
		return p, errors.Join(err, p.restore(archive, snapshots))
	}
	looked := look(l)
	p, err := recall(archive, snapshots, l)
	return p, errors.Join(err, looked, l.Close())
}

// recall reads the past. What it has read up to the damage is returned with the error.
func recall(archive *snapshot.Archive, snapshots []snapshot.Examined, entries *log.Store) (*past, error) {
	p := &past{tree: state.NewTree()}
	if err := p.restore(archive, snapshots); err != nil {
		return p, err
	}
	first, err := entries.FirstIndex()
	if err != nil {
		return p, err
	}
	last, err := entries.LastIndex()
	if err != nil {
		return p, err
	}
	if first > p.index+1 {
		return p, fmt.Errorf("entries %d to %d are missing: the log begins with %d, and no whole snapshot reaches it", p.index+1, first-1, first)
	}
	for p.index < last {
		var entry raft.Log
		if err := entries.GetLog(p.index+1, &entry); err != nil {
			return p, err
		}
		if entry.Term < p.term { // terms never fall: a leader whose snapshot this node was sent has overruled it, see log.Align
			return p, nil
		}
		if err := p.apply(&entry); err != nil {
			return p, err
		}
	}
	return p, nil
}

// restore takes the newest snapshot that is whole.
func (p *past) restore(archive *snapshot.Archive, snapshots []snapshot.Examined) error {
	for _, s := range snapshots {
		if s.Damage != nil {
			continue
		}
		content, err := archive.Open(s.ID)
		if err != nil {
			return err
		}
		tree, err := fsm.ReadSnapshot(content)
		if err := errors.Join(err, content.Close()); err != nil {
			return fmt.Errorf("snapshot %s: %w", s.ID, err)
		}
		p.tree, p.index, p.term, p.members = tree, s.Index, s.Term, s.Members
		return nil
	}
	return nil
}

// apply applies one entry, whether it was committed or not: nobody is left to tell.
func (p *past) apply(entry *raft.Log) error {
	switch entry.Type {
	case raft.LogCommand:
		if _, _, err := fsm.Apply(p.tree, entry.Index, entry.Data); err != nil {
			return err
		}
		p.tree.Stamp(entry.AppendedAt)
	case raft.LogConfiguration:
		members, err := decodeMembers(entry.Data)
		if err != nil {
			return fmt.Errorf("log entry %d: %w", entry.Index, err)
		}
		p.members = members
		p.tree.Advance(entry.Index)
	default:
		p.tree.Advance(entry.Index)
	}
	p.index, p.term = entry.Index, entry.Term
	return nil
}

// decodeMembers is raft.DecodeConfiguration, which panics where it can't decode.
func decodeMembers(data []byte) (members raft.Configuration, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("its members can't be read: %v", cause)
		}
	}()
	return raft.DecodeConfiguration(data), nil
}
