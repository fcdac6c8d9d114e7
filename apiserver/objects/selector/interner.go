package selector

import "sync"

// Interner holds the selectors of open watches. Equal selectors share one value, so that a thousand
// watches with the same selector need memory for one, and streams can compare selectors by address.
// The interner drops a selector when the last watch that holds it ends. It is safe for concurrent
// use.
type Interner struct {
	mu   sync.Mutex
	held map[digest]*entry // guarded by mu
}

type entry struct {
	selector *Selector
	holders  int
	bytes    int64
	release  func() // gives back what take has taken
}

// NewInterner returns an empty interner.
func NewInterner() *Interner { return &Interner{held: make(map[digest]*entry)} }

// Hold returns the shared value of a selector, and a function that ends the hold and must be called
// once. The value shares no memory with the request that s came from.
//
// If the interner has no equal selector, Hold calls take with the number of bytes that the selector
// needs, and fails with take's error. The interner calls give, which take has returned, when it
// drops the selector. Hold of a nil selector returns nil and calls nothing.
func (in *Interner) Hold(s *Selector, take func(bytes int64) (give func(), err error)) (shared *Selector, drop func(), err error) {
	if s == nil {
		return nil, func() {}, nil
	}
	key := s.digest()
	in.mu.Lock()
	defer in.mu.Unlock()
	e := in.held[key]
	if e == nil {
		e = &entry{bytes: s.size()}
		if e.release, err = take(e.bytes); err != nil {
			return nil, nil, err
		}
		e.selector = s.clone()
		in.held[key] = e
	}
	e.holders++
	return e.selector, func() { in.drop(key, e) }, nil
}

func (in *Interner) drop(key digest, e *entry) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if e.holders--; e.holders == 0 {
		delete(in.held, key)
		e.release()
	}
}

// Len returns the number of different selectors that are held.
func (in *Interner) Len() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.held)
}
