package fsm

import (
	"fmt"
	"hash/crc64"

	"quorate/raftstore/state"
)

// ChecksumFormat identifies the input and the algorithm of Checksum. It must change whenever what
// header returns or write writes does, because checksums of different formats can't be compared.
const ChecksumFormat = 1

// Checksum returns the CRC-64 of the state's snapshot, but for Root.Changed: it has everything on
// which nodes must agree. It takes about a second per GiB and little memory.
func Checksum(r *state.Root) uint64 {
	sum := crc64.New(crc64.MakeTable(crc64.ECMA))
	if err := write(sum, header(r), r, unchanged); err != nil {
		// Writing to sum never fails.
		panic(fmt.Sprintf("fsm: the state after entry %d can't be encoded: %v", r.Index(), err))
	}
	return sum.Sum64()
}
