package boltlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"syscall"
)

// checkedBolt is the version of bbolt whose file format the checks in this file know. A test
// compares it with go.mod. After an upgrade of bbolt, review the changes to its pages, freelist and
// open, run this package's tests, and then change the version here.
const checkedBolt = "v1.5.0"

// The parts of bolt's file format that checkStructure reads. Numbers are in the machine's byte
// order.
const (
	boltMagic        = 0xED0CDAED
	boltNoFreelist   = 1<<64 - 1
	boltMetaBytes    = 80 // page header, magic, version, page size, flags, root, sequence, freelist, pages, txid, sum
	boltHeaderBytes  = 16 // id, flags, count, overflow
	boltElementBytes = 16 // leaf: flags, position, key size, value size; branch: position, key size, page
	boltBucketBytes  = 16 // root, sequence
	boltBranch       = 0x01
	boltLeaf         = 0x02
	boltSubBucket    = 0x01
)

// boltMeta has the fields of a meta page that the check needs.
type boltMeta struct{ root, freelist, pages, txid uint64 }

// readMeta returns the newer valid one of the two meta pages, which bolt does not export.
func readMeta(file []byte, pageSize int) (boltMeta, error) {
	var newest boltMeta
	for from := 0; from <= pageSize && from+boltMetaBytes <= len(file); from += pageSize {
		b := file[from+boltHeaderBytes:]
		sum := fnv.New64a()
		sum.Write(b[:56]) // never fails
		number := func(at int) uint64 { return binary.NativeEndian.Uint64(b[at:]) }
		if binary.NativeEndian.Uint32(b) != boltMagic || number(56) != sum.Sum64() {
			continue
		}
		if txid := number(48); newest.pages == 0 || txid > newest.txid {
			newest = boltMeta{root: number(16), freelist: number(32), pages: number(40), txid: txid}
		}
	}
	if newest.pages == 0 {
		return newest, errors.New("is not a log file, or its beginning is damaged")
	}
	return newest, nil
}

// checker walks the used pages of a bolt file. It finds all damage that would make bolt's own walk
// panic or read beyond the file.
type checker struct {
	file     []byte
	pageSize int
	meta     boltMeta
	seen     []uint64 // a bit for each page
}

func (c *checker) run() error {
	c.seen = make([]uint64, c.meta.pages/64+1)
	if _, err := c.page(c.meta.root, nil, nil); err != nil {
		return fmt.Errorf("is damaged: %w", err)
	}
	return nil
}

// page checks a page and all pages below it, and returns the last key. Keys must be at least low
// and less than high (nil: no bound).
func (c *checker) page(id uint64, low, high []byte) (last []byte, err error) {
	if id < 2 || id >= c.meta.pages {
		return nil, fmt.Errorf("page %d is out of bounds", id)
	}
	b := c.file[id*uint64(c.pageSize):]
	n := uint64(binary.NativeEndian.Uint32(b[12:])) + 1
	if binary.NativeEndian.Uint64(b) != id || n > c.meta.pages-id {
		return nil, fmt.Errorf("page %d has a bad head", id)
	}
	for p := id; p < id+n; p++ {
		if c.seen[p/64]&(1<<(p%64)) != 0 {
			return nil, fmt.Errorf("page %d is used twice", p)
		}
		c.seen[p/64] |= 1 << (p % 64)
	}
	if last, err = c.elements(b[:n*uint64(c.pageSize)], low, high); err != nil {
		return nil, fmt.Errorf("page %d: %w", id, err)
	}
	return last, nil
}

// elements checks the elements of a page, or of a bucket stored inside a page.
func (c *checker) elements(b, low, high []byte) (last []byte, err error) {
	flags, count := binary.NativeEndian.Uint16(b[8:]), int(binary.NativeEndian.Uint16(b[10:]))
	if flags != boltBranch && flags != boltLeaf {
		return nil, fmt.Errorf("flags %#x are not those of a branch or leaf", flags)
	}
	if boltHeaderBytes+count*boltElementBytes > len(b) || (flags == boltBranch && count == 0) {
		return nil, fmt.Errorf("can't have %d elements", count)
	}
	for i := range count {
		key, value, child, sub, err := element(b, i, flags)
		if err != nil {
			return nil, err
		}
		if (i > 0 && bytes.Compare(key, last) <= 0) || bytes.Compare(key, low) < 0 || (high != nil && bytes.Compare(key, high) >= 0) {
			return nil, fmt.Errorf("element %d is out of order", i)
		}
		last = key
		switch {
		case flags == boltBranch:
			last, err = c.branch(b, i, count, key, high, child)
		case sub:
			err = c.bucket(value)
		}
		if err != nil {
			return nil, err
		}
	}
	return last, nil
}

// branch checks the page below an element, whose keys must be less than the next element's.
func (c *checker) branch(b []byte, i, count int, key, high []byte, child uint64) (last []byte, err error) {
	if i+1 < count {
		if high, _, _, _, err = element(b, i+1, boltBranch); err != nil {
			return nil, err
		}
	}
	if last, err = c.page(child, key, high); last == nil {
		last = key
	}
	return last, err
}

// bucket checks the bucket in an element's value.
func (c *checker) bucket(value []byte) error {
	if len(value) < boltBucketBytes {
		return errors.New("a bucket is cut short")
	}
	root, inside := binary.NativeEndian.Uint64(value), value[boltBucketBytes:]
	if root != 0 {
		_, err := c.page(root, nil, nil)
		return err
	}
	if len(inside) < boltHeaderBytes {
		return errors.New("a bucket is cut short")
	}
	_, err := c.elements(inside, nil, nil)
	return err
}

// element returns the parts of element i of a page: key and value in a leaf, key and page in a
// branch.
func element(b []byte, i int, flags uint16) (key, value []byte, child uint64, sub bool, err error) {
	at := boltHeaderBytes + i*boltElementBytes
	e := b[at : at+boltElementBytes]
	number := func(at int) uint64 { return uint64(binary.NativeEndian.Uint32(e[at:])) }
	var from, keySize, valueSize uint64
	if flags == boltLeaf {
		sub = number(0)&boltSubBucket != 0
		from, keySize, valueSize = number(4), number(8), number(12)
	} else {
		from, keySize, child = number(0), number(4), binary.NativeEndian.Uint64(e[8:])
	}
	from += uint64(at)
	if keySize == 0 || from+keySize+valueSize > uint64(len(b)) {
		return nil, nil, 0, false, fmt.Errorf("element %d is out of bounds", i)
	}
	b = b[from : from+keySize+valueSize]
	return b[:keySize], b[keySize:], child, sub, nil
}

// checkStructure checks the file's size and, unless it was closed properly, the structure of all
// used pages.
func checkStructure(path string, pageSize int) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read log file: %w", err)
	}
	defer f.Close() // only read
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("read log file: %w", err)
	}
	file, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map log file: %w", err)
	}
	defer func() { err = errors.Join(err, syscall.Munmap(file)) }()

	m, err := readMeta(file, pageSize)
	if err != nil {
		return &Damage{Reason: err.Error()}
	}
	if have := uint64(len(file)); m.pages > have/uint64(pageSize) {
		return &Damage{Reason: fmt.Sprintf("is cut short: %d bytes of %d", have, m.pages*uint64(pageSize))}
	}
	if m.freelist != boltNoFreelist {
		return nil
	}
	if err := readAhead(f); err != nil {
		return err
	}
	if err := (&checker{file: file, pageSize: pageSize, meta: m}).run(); err != nil {
		return &Damage{Reason: err.Error()}
	}
	return nil
}
