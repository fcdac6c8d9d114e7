package segment

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"
	"pgregory.net/rapid"
)

// model is what a log should have. After a truncation that no append follows, a restart may bring
// back entries that a truncation removed.
type model struct {
	t         *rapid.T
	dir       string
	log       *Log
	entries   []*raft.Log
	truncated bool
	stored    map[string]bool // data of all entries since the last reset
	term      uint64
}

func (m *model) open() {
	l, err := Open(Config{Dir: m.dir, Capacity: 4 << 10, Logger: quiet()})
	if err != nil {
		m.t.Fatal(err)
	}
	m.log = l
}

func (m *model) must(err error) {
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *model) append(n, size int) {
	first := uint64(rapid.IntRange(1, 50).Draw(m.t, "first"))
	if len(m.entries) > 0 {
		first = m.entries[len(m.entries)-1].Index + 1
	}
	more := entriesOf(m.term, first, n, size)
	m.must(m.log.Append(more))
	m.entries = append(m.entries[:len(m.entries):len(m.entries)], more...)
	m.truncated = false
	for _, e := range more {
		m.stored[identity(e)] = true
	}
}

func (m *model) truncate() {
	keep := rapid.IntRange(0, len(m.entries)-1).Draw(m.t, "keep")
	m.must(m.log.Truncate(m.entries[keep].Index))
	m.entries, m.truncated = m.entries[:keep], true
	m.term++
}

// identity is what distinguishes an entry from all others.
func identity(e *raft.Log) string { return fmt.Sprintf("%d:%d:%s", e.Index, e.Term, e.Data) }

func (m *model) dropOldest() {
	if o, ok := m.log.Oldest(); ok {
		m.must(m.log.DropOldest())
		for len(m.entries) > 0 && m.entries[0].Index <= o.Last {
			m.entries = m.entries[1:]
		}
	}
}

// restart closes the log, or leaves it as a crash would, and opens it again.
func (m *model) restart(crash bool) {
	if crash {
		to, err := os.MkdirTemp(filepath.Dir(m.dir), "")
		m.must(err)
		m.must(os.CopyFS(to, os.DirFS(m.dir)))
		m.must(m.log.Close())
		m.dir = to
	} else {
		m.must(m.log.Close())
	}
	m.open()
	got, err := readAll(m.log)
	m.must(err)
	if m.truncated && len(got) > len(m.entries) {
		for _, e := range got[len(m.entries):] {
			if !m.stored[identity(e)] {
				m.t.Fatalf("entry %d of term %d was never stored", e.Index, e.Term)
			}
		}
		m.entries = append(m.entries[:len(m.entries):len(m.entries)], got[len(m.entries):]...)
	}
	m.truncated = false
}

func (m *model) check() {
	got, err := readAll(m.log)
	m.must(err)
	if len(got) != len(m.entries) {
		m.t.Fatalf("%d entries, want %d", len(got), len(m.entries))
	}
	for i, e := range got {
		if w := m.entries[i]; e.Index != w.Index || e.Term != w.Term || !bytes.Equal(e.Data, w.Data) {
			m.t.Fatalf("entry %d of term %d, want %d of %d", e.Index, e.Term, w.Index, w.Term)
		}
	}
}

// The log has the entries that a slice would have, after any changes, stops and crashes.
func TestModel(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(base, "")
		if err != nil {
			rt.Fatal(err)
		}
		m := &model{t: rt, dir: dir, term: 1, stored: map[string]bool{}}
		m.open()
		defer func() { m.must(m.log.Close()) }()
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			switch what := rapid.IntRange(0, 12).Draw(rt, "what"); {
			case what < 6:
				m.append(rapid.IntRange(1, 8).Draw(rt, "entries"), rapid.SampledFrom([]int{0, 10, 700, 6000}).Draw(rt, "size"))
			case what < 8 && len(m.entries) > 0:
				m.truncate()
			case what == 8:
				m.dropOldest()
			case what == 9:
				m.log.full = true
			case what == 10:
				m.must(m.log.Reset())
				m.entries, m.truncated, m.stored = nil, false, map[string]bool{}
			case what == 11:
				m.must(m.log.Reserve())
			default:
				m.restart(rapid.Bool().Draw(rt, "crash"))
			}
			m.check()
		}
	})
}
