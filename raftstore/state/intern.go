package state

import "hash/maphash"

const (
	internSlots  = 1024
	maxInternLen = 1024
)

// internTable makes equal strings that arrive close together share memory, for example the labels
// of a deployment's pods. It is a cache of fixed size with one string in each slot. An eviction
// only costs memory, so the random seed does not affect the replicated state.
type internTable struct {
	seed  maphash.Seed
	slots *[internSlots]string
}

func newInternTable() internTable {
	return internTable{seed: maphash.MakeSeed(), slots: new([internSlots]string)}
}

func (t *internTable) intern(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) > maxInternLen {
		return string(b)
	}
	slot := &t.slots[maphash.Bytes(t.seed, b)%internSlots]
	if *slot != string(b) {
		*slot = string(b)
	}
	return *slot
}
