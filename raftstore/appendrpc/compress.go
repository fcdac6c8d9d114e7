package appendrpc

import (
	"fmt"

	"github.com/klauspost/compress/s2"
)

const (
	// compressBytes is the size from which a frame is compressed. A shorter one has little to save
	// (raftstore/DESIGN.md).
	compressBytes = 1 << 10
	// compressedFlag marks a frame as compressed, in its length.
	compressedFlag = 1 << 31
	// leastSaved is the part of a frame that its compression must save, as a divisor.
	leastSaved = 8
)

// compress returns the compressed frame of a content, with room for its length at the beginning. ok
// is false if that saves too little.
func (f *framed) compress(content []byte) (frame []byte, ok bool) {
	if len(content) < compressBytes {
		return nil, false
	}
	most := lengthBytes + s2.MaxEncodedLen(len(content))
	if cap(f.packed) < most {
		f.packed = make([]byte, most)
	}
	b := f.packed[:most]
	if most > maxSpareBytes {
		f.packed = nil
	}
	size := len(s2.Encode(b[lengthBytes:], content))
	return b[:lengthBytes+size], size <= len(content)-len(content)/leastSaved
}

// decompress returns the content of a compressed frame, which is valid until the next call.
func (f *framed) decompress(frame []byte) ([]byte, error) {
	size, err := s2.DecodedLen(frame)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errMalformed, err)
	}
	if size > maxFrameBytes {
		return nil, errTooLarge
	}
	if cap(f.unpacked) < size {
		f.unpacked = make([]byte, size)
	}
	b := f.unpacked[:size]
	if size > maxSpareBytes {
		f.unpacked = nil
	}
	if b, err = s2.Decode(b, frame); err != nil {
		return nil, fmt.Errorf("%w: %w", errMalformed, err)
	}
	return b, nil
}
