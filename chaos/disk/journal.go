package disk

import "slices"

// entry maps a name in a directory to an inode, or to nil for none.
type entry struct {
	dir  *inode
	name string
	to   *inode
}

// change is one atomic change of names, such as a rename.
type change struct {
	number  uint64
	entries []entry
}

// record adds a change to the journal. about are the inodes that it concerns, besides the
// directories.
func (v *volume) record(about *inode, entries ...entry) {
	v.changes++
	for _, e := range entries {
		e.dir.touched = v.changes
		v.pin(e.dir)
		v.pin(e.to)
	}
	about.touched = v.changes
	v.journal = append(v.journal, change{number: v.changes, entries: entries})
}

// syncNames makes durable the changes of names that an fsync of the inode makes durable.
func (v *volume) syncNames(n *inode) {
	switch {
	case !v.strict:
		v.commit(n.touched)
	case n.isDir():
		for i := range v.journal {
			c := &v.journal[i]
			c.entries = slices.DeleteFunc(slices.Clone(c.entries), func(e entry) bool {
				if e.dir == n {
					v.settle(e)
				}
				return e.dir == n
			})
		}
		v.journal = slices.DeleteFunc(v.journal, func(c change) bool { return len(c.entries) == 0 })
	}
}

// commit makes all changes up to a number durable.
func (v *volume) commit(upTo uint64) {
	done := 0
	for done < len(v.journal) && v.journal[done].number <= upTo {
		for _, e := range v.journal[done].entries {
			v.settle(e)
		}
		done++
	}
	v.journal = slices.Delete(v.journal, 0, done)
}

// settle makes one entry durable. The journal's hold on its inode becomes that of the durable name.
func (v *volume) settle(e entry) {
	former := e.dir.durable[e.name]
	if e.to == nil {
		delete(e.dir.durable, e.name)
	} else {
		e.dir.durable[e.name] = e.to
	}
	v.unpin(former)
	v.unpin(e.dir)
}

func (v *volume) pin(n *inode) {
	if n != nil {
		n.pins++
	}
}

func (v *volume) unpin(n *inode) {
	if n != nil {
		n.pins--
		v.reap(n)
	}
}
