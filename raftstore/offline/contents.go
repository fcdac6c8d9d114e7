package offline

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/hashicorp/raft"

	"quorate/progress"
	"quorate/raftstore"
	"quorate/raftstore/fsm"
	"quorate/raftstore/log"
	"quorate/raftstore/snapshot"
	"quorate/raftstore/state"
)

// contents is the state that a Raft folder yields: the newest undamaged snapshot with the log
// entries after it.
type contents struct {
	tree        *state.Tree
	index, term uint64 // of the last entry, or of the snapshot if there is none
	members     raft.Configuration
}

// readContents opens the log, passes it to scan, and reads the contents. If the log can't be read,
// the contents are those of the newest undamaged snapshot. It shows how far it is.
func readContents(dir string, archive *snapshot.Archive, snapshots []snapshot.Examined, shown *progress.Progress, scan func(*log.Store) error) (*contents, error) {
	l, err := log.OpenReadOnly(log.Config{
		Dir: filepath.Join(dir, raftstore.LogDir), BoltFile: filepath.Join(dir, raftstore.BoltFile), Logger: silent(),
	})
	if err != nil {
		p := &contents{tree: state.NewTree()}
		return p, errors.Join(err, p.restore(archive, snapshots, shown))
	}
	scanErr := scan(l)
	p, err := restoreAndReplay(archive, snapshots, l, shown)
	return p, errors.Join(err, scanErr, l.Close())
}

// restoreAndReplay reads the newest undamaged snapshot and applies the log entries after it. With
// an error about damage, it returns the state before the damage.
func restoreAndReplay(archive *snapshot.Archive, snapshots []snapshot.Examined, entries *log.Store, shown *progress.Progress) (*contents, error) {
	p := &contents{tree: state.NewTree()}
	if err := p.restore(archive, snapshots, shown); err != nil {
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
	shown.Begin("apply the log", int64(max(last, p.index)-p.index), progress.Count("entries"))
	for p.index < last {
		var entry raft.Log
		if err := entries.GetLog(p.index+1, &entry); err != nil {
			return p, err
		}
		if entry.Term < p.term { // terms never decrease, so a later leader's snapshot has superseded this entry: see log.Align
			return p, nil
		}
		if err := p.apply(&entry); err != nil {
			return p, err
		}
		shown.Add(1)
	}
	return p, nil
}

// restore reads the newest undamaged snapshot.
func (p *contents) restore(archive *snapshot.Archive, snapshots []snapshot.Examined, shown *progress.Progress) error {
	for _, s := range snapshots {
		if s.Damage != nil {
			continue
		}
		content, err := archive.Open(s.ID)
		if err != nil {
			return err
		}
		shown.Begin("read snapshot "+s.ID, 0, progress.Bytes()) // its size is that of the compressed file
		tree, err := fsm.ReadSnapshot(shown.Reader(content))
		if err := errors.Join(err, content.Close()); err != nil {
			return fmt.Errorf("snapshot %s: %w", s.ID, err)
		}
		p.tree, p.index, p.term, p.members = tree, s.Index, s.Term, s.Members
		return nil
	}
	return nil
}

// apply applies one entry, committed or not: without the other voters that is unknown.
func (p *contents) apply(entry *raft.Log) error {
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

// decodeMembers is raft.DecodeConfiguration, but returns an error instead of panicking.
func decodeMembers(data []byte) (members raft.Configuration, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("its members can't be read: %v", cause)
		}
	}()
	return raft.DecodeConfiguration(data), nil
}
