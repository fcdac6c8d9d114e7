package selector

import "sync"

// Table holds the selectors of open watches. Equal selectors share one value, so that a thousand
// watches with one selector take the memory of one, and streams can compare selectors by address. A
// selector leaves the table when the last watch that holds it ends. It is safe for concurrent use.
type Table struct {
	mu   sync.Mutex
	held map[digest]*entry // guarded by mu
}

type entry struct {
	selector *Selector
	holders  int
	bytes    int64
	release  func() // gives back what take has taken
}

// NewTable returns an empty table.
func NewTable() *Table { return &Table{held: make(map[digest]*entry)} }

// Hold returns the shared value of a selector and the function that ends the hold, which must be
// called once. The value shares no memory with the request that s came from. If the table doesn't
// have an equal selector, Hold calls take with the bytes that the selector needs, and returns
// take's error; the table calls give, which take has returned, when it drops the selector. A nil
// selector takes nothing.
func (t *Table) Hold(s *Selector, take func(bytes int64) (give func(), err error)) (shared *Selector, drop func(), err error) {
	if s == nil {
		return nil, func() {}, nil
	}
	key := s.digest()
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.held[key]
	if e == nil {
		e = &entry{bytes: s.size()}
		if e.release, err = take(e.bytes); err != nil {
			return nil, nil, err
		}
		e.selector = s.clone()
		t.held[key] = e
	}
	e.holders++
	return e.selector, func() { t.drop(key, e) }, nil
}

func (t *Table) drop(key digest, e *entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.holders--; e.holders == 0 {
		delete(t.held, key)
		e.release()
	}
}

// Len returns the number of different selectors that are held.
func (t *Table) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.held)
}
