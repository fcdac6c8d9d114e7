package entries

import (
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/fsm"
	"quorate/raftstore/log"
	"quorate/raftstore/state"
)

// maxPageBytes bounds the entries that Page reads together. One entry may exceed it.
const maxPageBytes = 8 << 20

// ErrNoEntry reports an index beyond the end of the log.
var ErrNoEntry = errors.New("the log has no such entry yet")

// Operation is what an entry does.
type Operation string

// The operations. The first three change an object.
const (
	Create        Operation = "create"
	Update        Operation = "update"
	Delete        Operation = "delete"
	Init          Operation = "init" // the first entry of a term that its leader proposes
	Pin           Operation = "pin"  // makes all nodes keep the state for the pages of a list
	Configuration Operation = "configuration"
	Noop          Operation = "noop" // Raft's own
	Damaged       Operation = "damaged"
	Unknown       Operation = "unknown" // of another build
)

// Stage is how far an entry has come on this node.
type Stage string

// The stages.
const (
	Proposed  Stage = "proposed" // it may yet be replaced by another entry
	Committed Stage = "committed"
	Applied   Stage = "applied"
	// Refused is the stage of an applied entry whose precondition did not hold, so that it changed
	// nothing.
	Refused Stage = "refused"
)

// Entry describes an entry of the log without its content.
type Entry struct {
	Index, Term uint64
	Time        time.Time // by the clock of the node that proposed it; zero if unknown
	Operation   Operation
	Key         state.Key // of a create, update or delete
	Bytes       int
	Stage       Stage
}

// Log is the log on disk. *log.Store implements it.
type Log interface {
	FirstIndex() (uint64, error)
	LastIndex() (uint64, error)
	GetLog(index uint64, entry *raft.Log) error
}

// Config configures a Reader.
type Config struct {
	Log Log
	// Root returns the state as of the last applied batch.
	Root func() *state.Root
	// Committed returns the index of the last entry that is known to be committed.
	Committed func() uint64
}

// Reader reads entries.
type Reader struct{ cfg Config }

// New returns a reader.
func New(cfg Config) *Reader { return &Reader{cfg} }

// Page returns the entries before an index, or those at the end of the log if before is 0, newest
// first. It returns at most limit entries, and fewer if these are large or if the log begins.
func (r *Reader) Page(before uint64, limit int) ([]Entry, error) {
	first, last, err := r.span()
	if err != nil || last == 0 {
		return nil, err
	}
	index := last
	if before > 0 {
		index = min(last, before-1)
	}
	v := r.view()
	var page []Entry
	for size := 0; index >= first && len(page) < limit && size < maxPageBytes; index-- {
		entry, _, err := r.read(index, v)
		if errors.Is(err, raft.ErrLogNotFound) {
			break // the log was trimmed, or replaced, in the meantime
		}
		if err != nil {
			return nil, err
		}
		size += entry.Bytes
		page = append(page, entry)
	}
	return page, nil
}

func (r *Reader) span() (first, last uint64, err error) {
	if first, err = r.cfg.Log.FirstIndex(); err != nil {
		return 0, 0, fmt.Errorf("read range of log: %w", err)
	}
	if last, err = r.cfg.Log.LastIndex(); err != nil {
		return 0, 0, fmt.Errorf("read range of log: %w", err)
	}
	return first, last, nil
}

// view is what decides the stages of the entries of one call.
type view struct {
	committed uint64
	root      *state.Root
}

// view reads the state last, so that an entry that it has applied may count as proposed and never
// the reverse.
func (r *Reader) view() view {
	committed := r.cfg.Committed()
	return view{committed, r.cfg.Root()}
}

func (v *view) stageOf(index uint64) Stage {
	switch {
	case v.root.Failed().Contains(index):
		return Refused
	case index <= v.root.Index():
		return Applied
	case index <= v.committed:
		return Committed
	}
	return Proposed
}

// read returns an entry and, if it is a command, its data. The error is raft.ErrLogNotFound if the
// log does not have it.
func (r *Reader) read(index uint64, v view) (Entry, []byte, error) {
	var stored raft.Log
	err := r.cfg.Log.GetLog(index, &stored)
	if _, damaged := errors.AsType[*log.Corrupt](err); damaged {
		return Entry{Index: index, Operation: Damaged, Stage: v.stageOf(index)}, nil, nil
	}
	if err != nil {
		return Entry{}, nil, err
	}
	e := Entry{Index: index, Term: stored.Term, Time: stored.AppendedAt, Bytes: len(stored.Data), Stage: v.stageOf(index)}
	switch stored.Type {
	case raft.LogCommand:
		e.describe(stored.Data)
		return e, stored.Data, nil
	case raft.LogConfiguration:
		e.Operation = Configuration
	default:
		e.Operation = Noop
	}
	return e, nil, nil
}

// describe sets what the data of a command says.
func (e *Entry) describe(data []byte) {
	entry, err := fsm.Decode(data)
	if err != nil {
		e.Operation = Unknown
		return
	}
	if at := entry.Time(); !at.IsZero() {
		e.Time = at
	}
	switch entry.Op() {
	case fsm.OpInit:
		e.Operation = Init
		return
	case fsm.OpPin:
		e.Operation = Pin
		return
	case fsm.OpCreate:
		e.Operation = Create
	case fsm.OpUpdate:
		e.Operation = Update
	case fsm.OpDelete:
		e.Operation = Delete
	}
	e.Key = entry.Precondition().Key
}
