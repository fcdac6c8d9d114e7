package budget

import (
	"hash/maphash"
	"sync"
)

// stripes is how many locks the keys are spread over.
const stripes = 32

// keyed is an amount for each key. A key with nothing is not in it.
type keyed struct {
	seed    maphash.Seed
	stripes [stripes]stripe
}

type stripe struct {
	mu      sync.Mutex
	amounts map[string]int64 // guarded by mu
}

func (k *keyed) init() {
	k.seed = maphash.MakeSeed()
	for i := range k.stripes {
		k.stripes[i].amounts = make(map[string]int64)
	}
}

func (k *keyed) of(key string) *stripe { return &k.stripes[maphash.String(k.seed, key)%stripes] }

// add adds n to the amount of a key unless it would exceed limit. It counts nothing for a key that
// is not known, or without a limit.
func (k *keyed) add(key string, n, limit int64) bool {
	if key == "" || limit <= 0 {
		return true
	}
	s := k.of(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.amounts[key]
	if n > limit-now {
		return false
	}
	s.amounts[key] = now + n
	return true
}

// sub takes back what add with the same key and limit has added.
func (k *keyed) sub(key string, n, limit int64) {
	if key == "" || limit <= 0 {
		return
	}
	s := k.of(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if left := s.amounts[key] - n; left > 0 {
		s.amounts[key] = left
	} else {
		delete(s.amounts, key)
	}
}
