package disk

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"
)

// What is read here of the format of bbolt's files. Numbers are in the byte order of the machine.
const (
	boltMagic   = 0xED0CDAED
	boltHeader  = 16 // page: id, flags, count of elements, further pages
	boltElement = 16 // leaf: flags, position, key size, value size; branch: position, key size, page
	boltBucket  = 16 // root page (0: the bucket's only page follows), sequence
	boltBranch  = 0x01
	boltLeaf    = 0x02
)

// span is a range of bytes.
type span struct{ off, end int64 }

// pagesInUse returns the byte ranges of a bbolt file that the branch and leaf pages of its newest
// transaction occupy. It leaves out the meta pages, because damage to the newer one looks like a
// torn write of the last transaction, and the freelist, which has no checksum.
func pagesInUse(f *os.File) ([]span, error) {
	w := boltWalk{file: f, seen: map[uint64]bool{}}
	root, err := w.root()
	if err == nil {
		err = w.page(root)
	}
	if err != nil {
		return nil, fmt.Errorf("find the pages in use: %w", err)
	}
	return w.used, nil
}

type boltWalk struct {
	file *os.File
	size int64 // of a page
	seen map[uint64]bool
	used []span
}

// root is the first page of the newest transaction.
func (w *boltWalk) root() (root uint64, err error) {
	w.size = int64(os.Getpagesize())
	found, newest := false, uint64(0)
	for i := range int64(2) {
		b := make([]byte, boltHeader+64)
		if _, err := w.file.ReadAt(b, i*w.size); err != nil {
			return 0, err
		}
		meta := b[boltHeader:]
		sum := fnv.New64a()
		sum.Write(meta[:56]) // never fails
		number := func(at int) uint64 { return binary.NativeEndian.Uint64(meta[at:]) }
		if binary.NativeEndian.Uint32(meta) != boltMagic || number(56) != sum.Sum64() {
			continue
		}
		if txid := number(48); !found || txid > newest {
			found, newest, root = true, txid, number(16)
		}
	}
	if !found {
		return 0, fmt.Errorf("%s is no bbolt file", w.file.Name())
	}
	return root, nil
}

// page takes down a page and all below it.
func (w *boltWalk) page(id uint64) error {
	if w.seen[id] {
		return fmt.Errorf("page %d is used twice", id)
	}
	w.seen[id] = true
	at := int64(id) * w.size
	b := make([]byte, boltHeader)
	if _, err := w.file.ReadAt(b, at); err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	whole := make([]byte, (int64(binary.NativeEndian.Uint32(b[12:]))+1)*w.size)
	if _, err := w.file.ReadAt(whole, at); err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	end, err := w.elements(whole)
	if err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	w.used = append(w.used, span{at, at + end})
	return nil
}

// elements goes through those of a page, and returns where the last one ends.
func (w *boltWalk) elements(b []byte) (end int64, err error) {
	if len(b) < boltHeader {
		return 0, fmt.Errorf("%d bytes are no page", len(b))
	}
	flags, count := binary.NativeEndian.Uint16(b[8:]), int64(binary.NativeEndian.Uint16(b[10:]))
	end = boltHeader + count*boltElement
	if flags != boltBranch && flags != boltLeaf || end > int64(len(b)) {
		return 0, fmt.Errorf("it has flags %#x and %d elements", flags, count)
	}
	for i := range count {
		at := boltHeader + i*boltElement
		field := func(n int64) int64 { return int64(binary.NativeEndian.Uint32(b[at+4*n:])) }
		if flags == boltBranch {
			end = max(end, at+field(0)+field(1))
			if err := w.page(binary.NativeEndian.Uint64(b[at+8:])); err != nil {
				return 0, err
			}
			continue
		}
		value := at + field(1) + field(2)
		if value+field(3) > int64(len(b)) {
			return 0, fmt.Errorf("element %d ends beyond it", i)
		}
		end = max(end, value+field(3))
		if isBucket := field(0)&1 != 0; isBucket {
			if err := w.bucket(b[value : value+field(3)]); err != nil {
				return 0, err
			}
		}
	}
	return end, nil
}

// bucket goes on below a bucket.
func (w *boltWalk) bucket(value []byte) error {
	if len(value) < boltBucket {
		return fmt.Errorf("a bucket has %d bytes", len(value))
	}
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		return w.page(root)
	}
	_, err := w.elements(value[boltBucket:])
	return err
}
