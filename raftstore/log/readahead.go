package log

import (
	"sync"

	"github.com/hashicorp/raft"

	"quorate/raftstore/log/segment"
)

// aheadReaders is the number of readers that are followed at a time. Raft reads entries in order to
// apply them, and to send them to each follower that is behind.
const aheadReaders = 8

// largeEntry is the size of an entry, in bytes, after which the next one is read alone: one read
// would return few of that size, each of which keeps the memory of all of them.
const largeEntry = 64 << 10

// readAhead keeps entries that were read from disk together with one that Raft asked for, until Raft
// asks for them. It reads ahead only for a reader that reads in order, and keeps no more for each
// than one read of package segment returns. Its entries must be cleared after any are removed from
// the log, except for the oldest, which GetLog does not look for.
type readAhead struct {
	mu       sync.Mutex
	readers  [aheadReaders]aheadReader
	reads    uint64 // from disk
	removals uint64
}

// aheadReader is a reader that has got the entry before next.
type aheadReader struct {
	next    uint64           // 0: there is no reader
	large   bool             // the entry before is large
	records []segment.Record // from next on
	array   []segment.Record // that of records, for the next read
	read    uint64           // number of the last read from disk for it
}

// miss says how to read from disk what was not read ahead.
type miss struct {
	limit    int // of the number of entries
	into     []segment.Record
	removals uint64
}

// get sets entry to the one at index, if it was read ahead. Otherwise the caller must read it as
// the miss says, and call put.
func (a *readAhead) get(index uint64, entry *raft.Log) (m miss, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.readerAt(index)
	if r == nil || len(r.records) == 0 && r.large {
		return miss{limit: 1, removals: a.removals}, false
	}
	if len(r.records) == 0 {
		m = miss{limit: chunkEntries, into: r.array, removals: a.removals}
		r.array = nil
		return m, false
	}
	r.records[0].Into(entry)
	r.next, r.large, r.records = index+1, isLarge(&r.records[0]), r.records[1:]
	if len(r.records) == 0 {
		clear(r.array) // it shares memory with the entries
	}
	return miss{}, true
}

// put keeps records that were read from index on after a miss, without the first, unless entries of
// the log have been removed since.
func (a *readAhead) put(index uint64, records []segment.Record, m miss) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.removals != m.removals {
		return
	}
	r := a.readerAt(index)
	if r == nil {
		if a.readerAt(index+1) != nil {
			return // Raft asks again for the entry before those that it sends
		}
		r = a.oldest()
	}
	a.reads++
	*r = aheadReader{next: index + 1, large: isLarge(&records[0]), read: a.reads}
	if len(records) > 1 {
		r.records, r.array = records[1:], records
	}
}

// clear forgets all entries, after some have been removed from the log.
func (a *readAhead) clear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.removals++
	a.readers = [aheadReaders]aheadReader{}
}

// readerAt returns the reader whose next entry is at index, nil if there is none.
func (a *readAhead) readerAt(index uint64) *aheadReader {
	for i := range a.readers {
		if a.readers[i].next == index {
			return &a.readers[i]
		}
	}
	return nil
}

// oldest returns the reader that has not read from disk for longest, of those for which no entries
// are kept, if there is one.
func (a *readAhead) oldest() *aheadReader {
	oldest := &a.readers[0]
	for i := range a.readers {
		r := &a.readers[i]
		if kept, keeps := len(r.records) > 0, len(oldest.records) > 0; kept != keeps && keeps || kept == keeps && r.read < oldest.read {
			oldest = r
		}
	}
	return oldest
}

func isLarge(record *segment.Record) bool { return len(record.Data) >= largeEntry }
