package fsm

import (
	"fmt"
	"hash/crc64"

	"quorate/raftstore/state"
)

// ChecksumFormat says what Checksum sums up, and how. Sums of different formats can't be compared; it changes with what
// WriteSnapshot writes.
const ChecksumFormat = 1

// Checksum sums up a state: everything that replicas must agree on, as it stands in a snapshot. It takes about a second for each
// GiB, and no memory to speak of.
func Checksum(r *state.Root) uint64 {
	sum := crc64.New(crc64.MakeTable(crc64.ECMA))
	if err := WriteSnapshot(sum, r); err != nil {
		panic(fmt.Sprintf("fsm: the state after entry %d can't be encoded: %v", r.Index(), err)) // sum itself never fails
	}
	return sum.Sum64()
}
