package budget

import "sync/atomic"

// Bound names what refused a Take. It is a label of metrics.
type Bound string

// The bounds of a pool.
const (
	Total   Bound = "total"
	User    Bound = "user"
	Address Bound = "address"
)

// Config holds the bounds of a pool, in units that its users choose. A bound of 0 is none.
type Config struct {
	// Total bounds what all holdings have together.
	Total int64
	// PerUser and PerAddress bound what the holdings of one user, or of one address, have together.
	PerUser, PerAddress int64
	// Reserve is what privileged holdings may have together besides, when another bound refuses it.
	Reserve int64
	// Refused, if set, is called for each Take that was refused, with the bound that was reached.
	Refused func(Bound)
}

// Pool is an amount that users and addresses share. It is safe for concurrent use.
type Pool struct {
	total, perUser, perAddress, reserve int64

	refused   func(Bound)
	used      atomic.Int64 // without what is taken of the reserve
	reserved  atomic.Int64 // taken of the reserve
	users     keyed
	addresses keyed
}

// New returns a pool of which nothing is taken.
func New(cfg Config) *Pool {
	if cfg.Refused == nil {
		cfg.Refused = func(Bound) {}
	}
	p := &Pool{total: cfg.Total, perUser: cfg.PerUser, perAddress: cfg.PerAddress, reserve: cfg.Reserve, refused: cfg.Refused}
	p.users.init()
	p.addresses.init()
	return p
}

// Used returns what all holdings have together.
func (p *Pool) Used() int64 { return p.used.Load() + p.reserved.Load() }

// Hold returns an empty holding of a user and an address. One that is "" is not known and counts
// towards the total only.
func (p *Pool) Hold(user, address string) Holding {
	return Holding{pool: p, user: user, address: address}
}

// HoldPrivileged is Hold for those who may use the reserve as well.
func (p *Pool) HoldPrivileged(user, address string) Holding {
	h := p.Hold(user, address)
	h.privileged = true
	return h
}

// Holding is what one request, stream or connection has of a pool. It may be used by one goroutine
// at a time. The zero value holds nothing and may be released.
type Holding struct {
	pool          *Pool
	user, address string
	amount        int64
	reserved      int64 // the part of amount that is of the reserve
	privileged    bool
}

// Amount returns what was taken and not returned.
func (h *Holding) Amount() int64 { return h.amount }

// Take adds n units, at least 0, if no bound is exceeded by that. Otherwise it takes nothing and
// returns the bound.
func (h *Holding) Take(n int64) (Bound, bool) {
	if n == 0 {
		return "", true
	}
	if bound, ok := h.pool.take(h.user, h.address, n); !ok {
		if !h.privileged || !h.pool.takeReserve(n) {
			h.pool.refused(bound)
			return bound, false
		}
		h.reserved += n
	}
	h.amount += n
	return "", true
}

// Return gives back n units of those that were taken.
func (h *Holding) Return(n int64) {
	if n == 0 {
		return
	}
	if n < 0 || n > h.amount {
		panic("budget: return of more than was taken")
	}
	h.amount -= n
	if of := min(n, h.reserved); of > 0 {
		h.reserved -= of
		h.pool.reserved.Add(-of)
		n -= of
	}
	h.pool.users.sub(h.user, n, h.pool.perUser)
	h.pool.addresses.sub(h.address, n, h.pool.perAddress)
	h.pool.used.Add(-n)
}

// Release gives everything back. A second call does nothing.
func (h *Holding) Release() { h.Return(h.amount) }

func (p *Pool) take(user, address string, n int64) (Bound, bool) {
	if !p.users.add(user, n, p.perUser) {
		return User, false
	}
	if !p.addresses.add(address, n, p.perAddress) {
		p.users.sub(user, n, p.perUser)
		return Address, false
	}
	if !addWithin(&p.used, n, p.total) {
		p.addresses.sub(address, n, p.perAddress)
		p.users.sub(user, n, p.perUser)
		return Total, false
	}
	return "", true
}

func (p *Pool) takeReserve(n int64) bool {
	return p.reserve > 0 && addWithin(&p.reserved, n, p.reserve)
}

// addWithin adds n to an amount unless that would exceed limit; a limit of 0 is none. The amount
// never exceeds the limit, not even for a moment in which another Take would be refused.
func addWithin(amount *atomic.Int64, n, limit int64) bool {
	for {
		now := amount.Load()
		if limit > 0 && n > limit-now {
			return false
		}
		if amount.CompareAndSwap(now, now+n) {
			return true
		}
	}
}
