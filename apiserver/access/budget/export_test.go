package budget

// UsedBy returns the amount that the holdings of one user have together. It is 0 if the pool has no
// bound for users.
func (p *Pool) UsedBy(user string) int64 { return p.users.get(user) }

// Users returns the number of users with a share of the pool; it is 0 if the pool has no bound for
// users.
func (p *Pool) Users() int { return p.users.len() }

// Addresses returns the number of addresses with a share of the pool; it is 0 if the pool has no
// bound for addresses.
func (p *Pool) Addresses() int { return p.addresses.len() }

// get returns the amount of a key.
func (k *keyed) get(key string) int64 {
	s := k.of(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.amounts[key]
}

// len returns the number of keys in memory.
func (k *keyed) len() int {
	n := 0
	for i := range k.stripes {
		s := &k.stripes[i]
		s.mu.Lock()
		n += len(s.amounts)
		s.mu.Unlock()
	}
	return n
}
