package admin

import (
	"encoding/json"
	"errors"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"quorate/apiserver/limit"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/status"
	"quorate/raftstore"
	"quorate/raftstore/entries"
	"quorate/raftstore/log"
)

// Log is the log of this node. *raftstore.Store implements it.
type Log interface {
	Positions() raftstore.Positions
	// Snapshots returns the snapshots on this node's disk, newest first.
	Snapshots() ([]raftstore.Snapshot, error)
	// Entries returns the entries before an index, or the last ones if before is 0, newest first.
	Entries(before uint64, limit int) ([]entries.Entry, error)
	// Change returns an entry with the objects before and after it.
	Change(index uint64) (*entries.Change, error)
}

// Bounds on the reads of the log.
const (
	defaultEntries = 100 // of a page
	maxEntries     = 500 // of a page
	// maxLogReads bounds the pages and changes that are read at the same time. Each takes some
	// megabytes at most.
	maxLogReads = 4
)

// LogState is the response of GET /cluster/v1/log: where the log of the responding node stands. An
// index is 0 if there is no such entry.
type LogState struct {
	Term          uint64        `json:"term"`
	FirstIndex    uint64        `json:"firstIndex"`
	LastIndex     uint64        `json:"lastIndex"`
	CommitIndex   uint64        `json:"commitIndex"`
	AppliedIndex  uint64        `json:"appliedIndex"`
	SnapshotIndex uint64        `json:"snapshotIndex"`
	Snapshots     []LogSnapshot `json:"snapshots"` // newest first
}

// LogSnapshot is a snapshot on the disk of a node.
type LogSnapshot struct {
	ID    string     `json:"id"`
	Index uint64     `json:"index"`
	Term  uint64     `json:"term"`
	Bytes int64      `json:"bytes"`
	Time  *time.Time `json:"time"`
}

// Entries is the response of GET /cluster/v1/log/entries: a page of the log, newest entry first.
type Entries struct {
	Entries []Entry `json:"entries"`
}

// Entry is an entry of the log without its content.
type Entry struct {
	Index uint64     `json:"index"`
	Term  uint64     `json:"term"`
	Time  *time.Time `json:"time"` // by the clock of the node that proposed it; null if unknown
	// Operation is create, update or delete for changes of objects, else init, pin, configuration or
	// noop; damaged or unknown if this node cannot read the entry.
	Operation string `json:"operation"`
	// Stage is proposed, committed, applied, or refused if the entry was applied and changed nothing.
	Stage string `json:"stage"`
	Bytes int    `json:"bytes"`
	// Object is the object that the entry is about; null for the other operations.
	Object *EntryObject `json:"object"`
}

// EntryObject names an object.
type EntryObject struct {
	Group     string `json:"group"`
	Resource  string `json:"resource"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// Change is the response of GET /cluster/v1/log/entries/INDEX. Before and After are the object as
// it was stored before and after the entry: null if there was none, or if the entry changed
// nothing.
type Change struct {
	Entry
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
	// BeforeUnknown reports that the log no longer has the object that an update replaced.
	BeforeUnknown bool `json:"beforeUnknown"`
}

// RegisterLog adds the routes of the log of this node.
//
//	GET /cluster/v1/log                               positions and snapshots
//	GET /cluster/v1/log/entries?before=INDEX&limit=N  a page of entries without contents
//	GET /cluster/v1/log/entries/INDEX                 one entry, with the object before and after
//
// The first is authorized as a non-resource path, like members. The others name all objects of the
// cluster, so they are authorized as Operations of Group with the verb log. The last one contains
// an object, and also requires the right to get that object.
func RegisterLog(add func(method, path string, e *route.Endpoint), source Log) {
	h := logHandlers{source, make(chan struct{}, maxLogReads)}
	add(http.MethodGet, Prefix+"log", &route.Endpoint{Verb: route.VerbGet, Class: route.ClassRead, Serve: h.state})
	add(http.MethodGet, Prefix+"log/entries", &route.Endpoint{Verb: VerbLog, Subject: Subject(), Class: route.ClassRead, Serve: h.entries})
	add(http.MethodGet, Prefix+"log/entries/:name", &route.Endpoint{Verb: VerbLog, Subject: Subject(), Class: route.ClassRead, Serve: h.change})
}

// objectAnnotation is the key of the annotation that names the object in the audit event of a change.
const objectAnnotation = Group + "/object"

// VerbLog is the verb of reads of the log's entries.
const VerbLog = "log"

type logHandlers struct {
	source Log
	reads  chan struct{} // holds one value for each read of entries
}

func (h logHandlers) state(c *route.Call) error {
	p := h.source.Positions()
	answer := LogState{
		Term: p.Term, FirstIndex: p.First, LastIndex: p.Last, CommitIndex: p.Committed, AppliedIndex: p.Applied, SnapshotIndex: p.Snapshot,
		Snapshots: []LogSnapshot{},
	}
	snapshots, err := h.source.Snapshots()
	if err != nil {
		return err
	}
	for _, s := range snapshots {
		answer.Snapshots = append(answer.Snapshots, LogSnapshot{ID: s.ID, Index: s.Index, Term: s.Term, Bytes: s.Bytes, Time: timeOf(s.Time)})
	}
	return respond(c, answer)
}

func (h logHandlers) entries(c *route.Call) error {
	before, err := c.Query().Count("before")
	if err != nil {
		return err
	}
	n, err := c.Query().Count("limit")
	if err != nil {
		return err
	}
	if n == 0 {
		n = defaultEntries
	}
	leave, err := h.enter()
	if err != nil {
		return err
	}
	defer leave()
	page, err := h.source.Entries(uint64(before), int(min(n, maxEntries)))
	if err != nil {
		return err
	}
	answer := Entries{Entries: make([]Entry, len(page))}
	for i, e := range page {
		answer.Entries[i] = entryOf(e)
	}
	return respond(c, answer)
}

func (h logHandlers) change(c *route.Call) error {
	index, err := strconv.ParseUint(c.Name, 10, 64)
	if err != nil || index == 0 {
		return status.NewBadRequest("the index of a log entry is a positive integer, not " + strconv.Quote(c.Name))
	}
	leave, err := h.enter()
	if err != nil {
		return err
	}
	defer leave()
	change, err := h.source.Change(index)
	if trimmed, ok := errors.AsType[*log.Truncated](err); ok {
		return status.NewTrimmedEntry(index, trimmed.First)
	}
	if errors.Is(err, entries.ErrNoEntry) {
		return status.NewNotFound(status.Subject{Group: Group, Plural: "entries", Name: c.Name})
	}
	if err != nil {
		return err
	}
	entry := entryOf(change.Entry)
	if o := entry.Object; o != nil {
		c.Annotate(objectAnnotation, path.Join(o.Group, o.Resource, o.Namespace, o.Name))
		if err := c.AuthorizeObject(o.Group, o.Resource, o.Namespace, o.Name); err != nil {
			return err
		}
	}
	// The audit policy decides by the resource of the request, and so not whether the content of this
	// object, which may be a Secret, belongs into the audit log.
	c.Recording = nil
	return respond(c, Change{Entry: entry, Before: change.Before, After: change.After, BeforeUnknown: change.BeforeUnknown})
}

// enter admits a read of entries, which must call leave at its end.
func (h logHandlers) enter() (leave func(), err error) {
	select {
	case h.reads <- struct{}{}:
		return func() { <-h.reads }, nil
	default:
		return nil, limit.Reached(limit.LogReads, status.NewLimitReached("reads of the log", 1))
	}
}

func entryOf(e entries.Entry) Entry {
	entry := Entry{Index: e.Index, Term: e.Term, Time: timeOf(e.Time), Operation: string(e.Operation), Stage: string(e.Stage), Bytes: e.Bytes}
	if e.Key != "" {
		resource, namespace, name := e.Key.Split()
		group, plural := groupOf(resource)
		entry.Object = &EntryObject{Group: group, Resource: plural, Namespace: namespace, Name: name}
	}
	return entry
}

// groupOf splits the resource of a key: PLURAL of the core group, GROUP/PLURAL, or GROUP/PLURAL/UID
// for kinds that a definition with this uid defines.
func groupOf(resource string) (group, plural string) {
	group, plural, found := strings.Cut(resource, "/")
	if !found {
		return "", resource
	}
	plural, _, _ = strings.Cut(plural, "/")
	return group, plural
}

// timeOf returns nil for the zero time.
func timeOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
