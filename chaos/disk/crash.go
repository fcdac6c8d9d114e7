package disk

import (
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// sectorBytes is the size of the largest write that disks perform atomically.
const sectorBytes = 512

// crash replaces the state that processes see by the durable state. Every inode but the root gets a
// new number.
func (v *volume) crash() error {
	tree := filepath.Join(v.backing, rebuiltName)
	before := v.inodes
	v.inodes = map[uint64]*inode{v.root.id: v.root}
	v.journal, v.last = nil, extent{}
	for _, n := range before {
		n.links, n.pins = 0, 0
	}
	v.root.links, v.root.pins = 1, 1
	if err := v.rebuild(v.root, tree); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(v.treeDir()), os.Rename(tree, v.treeDir())); err != nil {
		return err
	}
	for _, n := range before {
		if n.links == 0 && n.content != nil {
			if err := n.content.remove(); err != nil {
				return err
			}
		}
	}
	return nil
}

// rebuild replaces the entries of a directory by its durable entries, in a new place on the backing
// disk.
func (v *volume) rebuild(dir *inode, path string) error {
	if err := errors.Join(os.Mkdir(path, 0o700), dress(path, dir.safe)); err != nil {
		return err
	}
	dir.now = dir.safe
	dir.entries = map[string]*inode{}
	for _, name := range slices.Sorted(maps.Keys(dir.durable)) {
		n := dir.durable[name]
		if n.isDir() && n.links > 0 { // a strict disk may find a moved directory in both places
			delete(dir.durable, name)
			continue
		}
		if n.links == 0 {
			v.add(n)
		}
		v.enter(dir, name, n)
		v.pin(n)
		if err := v.revive(n, filepath.Join(path, name)); err != nil {
			return err
		}
	}
	return nil
}

// revive restores the durable state of one inode at its path.
func (v *volume) revive(n *inode, path string) error {
	switch {
	case n.isDir():
		return v.rebuild(n, path)
	case n.content == nil:
		return errors.Join(os.Symlink(n.target, path), os.Lchown(path, int(n.safe.uid), int(n.safe.gid)))
	default:
		n.now = n.safe
		return errors.Join(n.content.restore(), dress(n.content.holder, n.safe), os.Link(n.content.holder, path))
	}
}

// loss counts what a power cut discards.
type loss struct{ bytes, files, names int64 }

// atStake returns what a power cut would discard now.
func (v *volume) atStake() (l loss) {
	for _, n := range v.inodes {
		if n.content != nil && n.links > 0 {
			if bytes := n.content.unsynced(); bytes > 0 {
				l.bytes += bytes
				l.files++
			}
		}
	}
	for _, c := range v.journal {
		l.names += int64(len(c.entries))
	}
	return l
}

// tear makes a random part of the unsynced changes durable, as a power cut during a write may: some
// sectors of the latest write, some pages of the other writes, and the oldest changes of names (on
// a strict disk, any of the changes).
func (v *volume) tear(r *rand.Rand) {
	if v.strict {
		v.journal = slices.DeleteFunc(v.journal, func(c change) bool {
			survives := r.IntN(2) == 0
			for _, e := range c.entries {
				if survives {
					v.settle(e)
				}
			}
			return survives
		})
	} else if n := r.IntN(len(v.journal) + 1); n > 0 {
		v.commit(v.journal[n-1].number)
	}
	for _, id := range slices.Sorted(maps.Keys(v.inodes)) {
		n := v.inodes[id]
		if n.content == nil {
			continue
		}
		var latest extent
		if v.last.file == n {
			latest = v.last
		}
		n.content.tear(r, latest)
	}
}

// tear makes some unsynced pages durable, and of those of the latest write some sectors but not
// all.
func (c *content) tear(r *rand.Rand, latest extent) {
	reached := int64(0) // the end of what survives
	for _, i := range slices.Sorted(maps.Keys(c.dirty)) {
		if i*pageBytes >= c.size || c.dirty[i].lost || latest.touches(i) {
			continue
		}
		if r.IntN(2) == 0 {
			delete(c.dirty, i)
			reached = max(reached, (i+1)*pageBytes)
		}
	}
	for _, sector := range latest.survivors(r, c.size) {
		if c.keep(sector) {
			reached = max(reached, (sector+1)*sectorBytes)
		}
	}
	c.safe = max(c.safe, min(c.size, reached))
}

// keep makes one sector durable. It returns false if the sector can't be read and thus is not
// durable.
func (c *content) keep(sector int64) bool {
	p := c.dirty[sector*sectorBytes/pageBytes]
	if p == nil {
		return false // it has been synced since
	}
	now := make([]byte, sectorBytes)
	if n, err := c.file.ReadAt(now, sector*sectorBytes); n == 0 && err != nil {
		return false
	}
	if p.old == nil {
		p.old = make([]byte, pageBytes)
	}
	copy(p.old[sector*sectorBytes%pageBytes:], now)
	return true
}

func (e extent) touches(page int64) bool { return e.off < (page+1)*pageBytes && page*pageBytes < e.end }

// survivors chooses the sectors of a write that reach the disk: a prefix, or any of them. At least
// one does, and at least one doesn't. If the write has one sector, none does.
func (e extent) survivors(r *rand.Rand, size int64) []int64 {
	first, last := e.off/sectorBytes, (min(e.end, size)+sectorBytes-1)/sectorBytes
	count := int(last - first)
	if count < 2 {
		return nil
	}
	sectors := make([]int64, count)
	for i := range sectors {
		sectors[i] = first + int64(i)
	}
	if r.IntN(2) == 0 {
		r.Shuffle(count, func(i, j int) { sectors[i], sectors[j] = sectors[j], sectors[i] })
	}
	return sectors[:1+r.IntN(count-1)]
}
