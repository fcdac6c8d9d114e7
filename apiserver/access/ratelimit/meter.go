package ratelimit

import (
	"hash/maphash"
	"sync"
	"time"
)

const (
	// stripes is how many locks the keys are spread over.
	stripes = 32
	// maxKeysPerStripe bounds the keys of one lock. A key beyond it displaces another one, which
	// gets its whole burst back.
	maxKeysPerStripe = 2048
	// firstSweep is the number of keys of one lock that are kept without a search for idle ones.
	firstSweep = 64
	// maxExcess bounds how far Add takes a key beyond its burst, and so how long the key is beyond
	// it afterwards.
	maxExcess = 16
)

// Meter counts events by key. It is safe for concurrent use.
type Meter struct {
	interval time.Duration // between two events at the allowed rate
	burst    time.Duration // burst intervals
	start    time.Time
	seed     maphash.Seed
	stripes  [stripes]stripe
}

// stripe holds, for each key, the time since the start of the meter at which its burst will be
// whole again. Keys whose time has passed are idle: they are as good as none.
type stripe struct {
	mu     sync.Mutex
	whole  map[string]time.Duration // guarded by mu
	sweepN int                      // keys at which idle ones are searched for; guarded by mu
}

// New returns a meter that allows perSecond events a second for each key, and bursts of at least
// one event. Both must be positive; perSecond is at most one billion.
func New(perSecond float64, burst int) *Meter {
	interval := time.Duration(float64(time.Second) / perSecond)
	m := &Meter{
		interval: interval, burst: time.Duration(max(burst, 1)) * interval, start: time.Now(), seed: maphash.MakeSeed(),
	}
	for i := range m.stripes {
		m.stripes[i].whole, m.stripes[i].sweepN = make(map[string]time.Duration), firstSweep
	}
	return m
}

// Take counts an event of a key at the time now if the rate allows it. Otherwise it counts nothing
// and returns after how long the next event is allowed.
func (m *Meter) Take(key string, now time.Time) (wait time.Duration, ok bool) {
	at := now.Sub(m.start)
	s := &m.stripes[maphash.String(m.seed, key)%stripes]
	s.mu.Lock()
	defer s.mu.Unlock()
	next := max(s.whole[key], at) + m.interval
	if wait := next - at - m.burst; wait > 0 {
		return wait, false
	}
	s.set(key, next, at)
	return 0, true
}

// Add counts an event of a key at the time now in any case. It returns by how many events, at most
// 16, the key is beyond its burst.
func (m *Meter) Add(key string, now time.Time) (excess int) {
	at := now.Sub(m.start)
	s := &m.stripes[maphash.String(m.seed, key)%stripes]
	s.mu.Lock()
	defer s.mu.Unlock()
	next := min(max(s.whole[key], at)+m.interval, at+m.burst+maxExcess*m.interval)
	s.set(key, next, at)
	if beyond := next - at - m.burst; beyond > 0 {
		return int((beyond + m.interval - 1) / m.interval)
	}
	return 0
}

// set sets the time of a key, and makes room for it if it is new. mu is held.
func (s *stripe) set(key string, whole, now time.Duration) {
	if _, known := s.whole[key]; !known {
		s.makeRoom(now)
	}
	s.whole[key] = whole
}

// makeRoom drops idle keys once there are twice as many keys as after the last time, and any key if
// there are too many. mu is held.
func (s *stripe) makeRoom(now time.Duration) {
	if len(s.whole) < s.sweepN {
		return
	}
	for key, whole := range s.whole {
		if whole <= now {
			delete(s.whole, key)
		}
	}
	for key := range s.whole {
		if len(s.whole) < maxKeysPerStripe {
			break
		}
		delete(s.whole, key)
	}
	s.sweepN = min(max(2*len(s.whole), firstSweep), maxKeysPerStripe)
}
