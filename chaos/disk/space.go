package disk

import (
	"math"
	"math/bits"
	"syscall"

	"golang.org/x/sys/unix"
)

// blocks records which pages of a file take space on the disk.
type blocks struct {
	set  []uint64
	used int64
}

func (b *blocks) len() int64 { return int64(len(b.set)) * 64 }

func (b *blocks) has(i int64) bool { return i < b.len() && b.set[i/64]&(1<<(i%64)) != 0 }

// take records that a range of bytes was written.
func (b *blocks) take(off, end int64) {
	last := pages(end)
	for b.len() < last {
		b.set = append(b.set, 0)
	}
	for i := off / pageBytes; i < last; i++ {
		if !b.has(i) {
			b.set[i/64] |= 1 << (i % 64)
			b.used++
		}
	}
}

// drop frees the pages from first to before last.
func (b *blocks) drop(first, last int64) {
	for i := first; i < min(last, b.len()); {
		if word := b.set[i/64]; i%64 == 0 && i+64 <= last {
			b.used -= int64(bits.OnesCount64(word))
			b.set[i/64] = 0
			i += 64
			continue
		}
		if b.has(i) {
			b.set[i/64] &^= 1 << (i % 64)
			b.used--
		}
		i++
	}
}

// used returns the number of pages of all files that processes can reach.
func (v *volume) used() (total int64) {
	for _, n := range v.inodes {
		if n.content != nil && n.links+n.opens > 0 {
			total += n.content.blocks.used
		}
	}
	return total
}

// limit sets the number of bytes that may still be written to unallocated parts; nil removes the
// limit.
func (v *volume) limit(free *int64) {
	v.capacity = math.MaxInt64
	if free != nil {
		v.capacity = v.used() + *free/pageBytes
	}
}

func (v *volume) limited() bool { return v.capacity != math.MaxInt64 }

// room returns how far a write of a range to a file may go before the disk is full.
func (v *volume) room(c *content, off, end int64) (int64, error) {
	if !v.limited() {
		return end, nil
	}
	free := v.capacity - v.used()
	for i := off / pageBytes; i < pages(end); i++ {
		if c.blocks.has(i) {
			continue
		}
		if free--; free < 0 {
			if i*pageBytes <= off {
				return 0, syscall.ENOSPC
			}
			return i * pageBytes, nil
		}
	}
	return end, nil
}

// statfs returns the space of the backing disk, bounded by the limit.
func (v *volume) statfs() (unix.Statfs_t, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(v.backing, &s); err != nil {
		return s, err
	}
	unit := int64(pageBytes)
	total, free := int64(s.Blocks)*s.Bsize/unit, int64(s.Bavail)*s.Bsize/unit
	if v.limited() {
		free = max(0, min(free, v.capacity-v.used()))
		total = v.used() + free
	}
	s.Bsize, s.Frsize, s.Blocks, s.Bfree, s.Bavail = unit, unit, uint64(total), uint64(free), uint64(free)
	return s, nil
}
