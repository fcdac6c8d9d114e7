package disk

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// pageBytes is the unit in which contents are recorded, discarded and counted, as in a kernel.
const pageBytes = 4096

// page is a page that was changed and not synced.
type page struct {
	old  []byte // what a power cut leaves of it: pageBytes, or nil for zeros
	lost bool   // a failed fsync has given it up: only another write and sync makes it durable
}

// content holds the bytes of a file. The backing file has the bytes that processes see. A page that
// isn't dirty is durable in the backing file, up to safe.
type content struct {
	file       *os.File
	holder     string // the name of the backing file that is nobody's but ours
	size, safe int64  // as processes see it, and as a power cut leaves it
	dirty      map[int64]*page
	blocks     blocks
}

// openContent opens a backing file, all of which counts as durable.
func openContent(holder string) (*content, error) {
	file, err := os.OpenFile(holder, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	c := &content{file: file, holder: holder, dirty: map[int64]*page{}}
	info, err := file.Stat()
	if err == nil {
		c.size, c.safe = info.Size(), info.Size()
		err = c.findBlocks()
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return c, nil
}

// findBlocks determines which pages of the backing file have data.
func (c *content) findBlocks() error {
	for at := int64(0); at < c.size; {
		data, err := c.file.Seek(at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			return nil
		}
		if err != nil {
			return err
		}
		hole, err := c.file.Seek(data, unix.SEEK_HOLE)
		if err != nil {
			return err
		}
		c.blocks.take(data, hole)
		at = hole
	}
	return nil
}

// read reads contents as processes see them. It returns fewer bytes only at the end of the file.
func (c *content) read(buf []byte, off int64) (int, error) {
	n, err := c.file.ReadAt(buf, off)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// write changes contents as write(2) does. A write beyond the end extends the file.
func (c *content) write(data []byte, off int64) (int, error) {
	if err := c.remember(off, off+int64(len(data))); err != nil {
		return 0, err
	}
	n, err := c.file.WriteAt(data, off)
	c.size = max(c.size, off+int64(n))
	c.blocks.take(off, off+int64(n))
	return n, err
}

// resize changes contents as ftruncate(2) does.
func (c *content) resize(size int64) error {
	if size < c.size {
		if err := c.remember(size, c.size); err != nil {
			return err
		}
	}
	if err := c.file.Truncate(size); err != nil {
		return err
	}
	c.size = size
	c.blocks.drop(pages(size), c.blocks.len())
	return nil
}

// punch replaces a range by zeros and frees its blocks, as fallocate(2) does.
func (c *content) punch(off, end int64) error {
	if err := c.remember(off, min(end, c.size)); err != nil {
		return err
	}
	if err := unix.Fallocate(int(c.file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, end-off); err != nil {
		return err
	}
	c.blocks.drop(pages(off), end/pageBytes)
	return nil
}

// remember keeps, for the pages that are about to change, the bytes that a power cut restores.
func (c *content) remember(off, end int64) error {
	first, last := off/pageBytes, pages(end)
	from, to := last, int64(0) // the clean pages that have something durable, with what is between them
	for i := first; i < last; i++ {
		if p := c.dirty[i]; p != nil {
			p.lost = false
		} else if i < pages(c.safe) {
			from, to = min(from, i), i+1
		}
	}
	var old []byte
	if from < to {
		old = make([]byte, (to-from)*pageBytes)
		if _, err := c.file.ReadAt(old, from*pageBytes); err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("remember what is durable: %w", err)
		}
	}
	for i := first; i < last; i++ {
		if c.dirty[i] != nil {
			continue
		}
		p := &page{}
		if i >= from && i < to {
			p.old = old[(i-from)*pageBytes:][:pageBytes:pageBytes]
		}
		c.dirty[i] = p
	}
	return nil
}

// sync makes the contents durable, except for pages that a failed sync has discarded.
func (c *content) sync() {
	c.safe = c.size
	end := pages(c.size)
	maps.DeleteFunc(c.dirty, func(i int64, p *page) bool { return !p.lost || i >= end })
}

// giveUp discards the dirty pages, as a failed sync does.
func (c *content) giveUp() {
	for _, p := range c.dirty {
		p.lost = true
	}
}

// unsynced returns the number of bytes that a power cut would change.
func (c *content) unsynced() int64 {
	both := min(c.size, c.safe)
	total := max(c.size, c.safe) - both
	for i := range c.dirty {
		total += max(0, min(pageBytes, both-i*pageBytes))
	}
	return total
}

// restore changes the backing file to its durable contents, as a power cut does.
func (c *content) restore() error {
	if c.size != c.safe {
		if err := c.file.Truncate(c.safe); err != nil {
			return err
		}
	}
	c.size = c.safe
	c.blocks.drop(pages(c.size), c.blocks.len())
	zeros := make([]byte, pageBytes)
	for _, i := range slices.Sorted(maps.Keys(c.dirty)) {
		off := i * pageBytes
		if off >= c.safe {
			break
		}
		old := c.dirty[i].old
		if old == nil {
			old = zeros
		}
		old = old[:min(pageBytes, c.safe-off)]
		if _, err := c.file.WriteAt(old, off); err != nil {
			return err
		}
		c.blocks.take(off, off+int64(len(old)))
	}
	clear(c.dirty)
	return nil
}

// remove closes and removes the backing file.
func (c *content) remove() error { return errors.Join(c.file.Close(), os.Remove(c.holder)) }

// pages returns the number of pages that hold size bytes.
func pages(size int64) int64 { return (size + pageBytes - 1) / pageBytes }
