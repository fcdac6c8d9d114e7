package stable

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"quorate/raftstore/log/diskio"
)

// The file has two copies of the values, each of copyBytes. A change writes and syncs the first one,
// and then the second one. So at any time one of them is whole: the newer one if a crash interrupts
// the change of the second, the older one if it interrupts that of the first. Whichever copy is
// damaged later, the other one has the values of the last change.
//
// A copy, whose numbers are little-endian:
//
//	 0  magic
//	 8  checksum  CRC-32C of what follows, up to the end of the values
//	12  version
//	16  sequence  number of the change
//	24  length    of the values in bytes
//	28  values    for each: length of the key, key, length of the value, value; lengths take two bytes
const (
	copyBytes   = 4 << 10
	copies      = 2
	headerBytes = 28
	magic       = "quoraSTA"
	version     = 1
)

const (
	// newSuffix is the suffix of a file that is being created.
	newSuffix = ".new"
	// lockPoll is the pause between attempts to lock the file.
	lockPoll = 20 * time.Millisecond
)

var (
	// ErrLocked reports that another process has the file open.
	ErrLocked = errors.New("in use by another process")
	// ErrInDoubt reports a change that the disk may or may not have.
	ErrInDoubt = errors.New("the outcome of a write to the disk is unknown")
	// ErrDamaged reports a file of which neither copy is whole.
	ErrDamaged = errors.New("is damaged: its checksums do not match")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// File is an open file of values.
type File struct {
	path string
	f    *os.File
	// datasync syncs the file; tests replace it.
	datasync func(*os.File) error

	mu       sync.Mutex
	values   map[string][]byte
	sequence uint64
	doubt    error
}

// Create creates a file without values. It replaces what an interrupted Create has left.
func Create(path string) error {
	f, err := os.OpenFile(path+newSuffix, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	content, err := encode(nil, 1)
	if err == nil {
		_, err = f.Write(append(content, content...))
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(path+newSuffix, path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("create %s: %w", path, err), os.Remove(path+newSuffix))
	}
	return nil
}

// Open opens a file that Create has made, and locks it: for other readers as well, unless readOnly
// is set. It waits for the lock. Unless readOnly is set, it writes the values again: a process whose
// sync failed may have left values that reads return although the disk does not have them.
func Open(path string, readOnly bool, wait time.Duration) (*File, error) {
	flag, lock := os.O_RDWR, syscall.LOCK_EX
	if readOnly {
		flag, lock = os.O_RDONLY, syscall.LOCK_SH
	}
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return nil, err
	}
	s := &File{path: path, f: f, datasync: diskio.Datasync}
	err = s.lock(lock, wait)
	if err == nil {
		err = s.load()
	}
	if err == nil && !readOnly {
		err = s.Set(nil)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), f.Close())
	}
	return s, nil
}

func (s *File) lock(how int, wait time.Duration) error {
	for end := time.Now().Add(wait); ; time.Sleep(lockPoll) {
		err := syscall.Flock(int(s.f.Fd()), how|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return err
		}
		if time.Now().After(end) {
			return ErrLocked
		}
	}
}

// load reads the newer of the copies that are whole.
func (s *File) load() error {
	content := make([]byte, copies*copyBytes)
	if n, err := s.f.ReadAt(content, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	} else if n < len(content) {
		return fmt.Errorf("is cut short: %d bytes of %d: %w", n, len(content), ErrDamaged)
	}
	var errs []error
	for one := range slices.Chunk(content, copyBytes) {
		values, sequence, err := decode(one)
		if err != nil {
			errs = append(errs, err)
		} else if sequence > s.sequence {
			s.values, s.sequence = values, sequence
		}
	}
	if s.sequence == 0 {
		return errors.Join(errs...)
	}
	return nil
}

// Get returns a value, nil if there is none.
func (s *File) Get(key string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.values[key])
}

// All returns all values.
func (s *File) All() map[string][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.values)
}

// Set stores values in addition to the others, or in place of those with the same keys.
func (s *File) Set(changes map[string][]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.doubt != nil {
		return s.doubt
	}
	values := maps.Clone(s.values)
	if values == nil {
		values = map[string][]byte{}
	}
	for key, value := range changes {
		values[key] = append([]byte{}, value...) // not nil, which stands for no value
	}
	content, err := encode(values, s.sequence+1)
	if err != nil {
		return err
	}
	for i := range int64(copies) {
		if _, err := s.f.WriteAt(content, i*copyBytes); err != nil {
			return s.failed(i, fmt.Errorf("write %s: %w", s.path, err))
		}
		if err := s.datasync(s.f); err != nil {
			return s.stop(fmt.Errorf("sync %s: %w", s.path, err))
		}
		// gofail: var stableBetweenCopies struct{}
	}
	s.values, s.sequence = values, s.sequence+1
	return nil
}

// failed returns the error for a write of a copy that failed. If it was the first one, the second
// one still has the former values, and a later Set may succeed.
func (s *File) failed(i int64, err error) error {
	if i == 0 {
		return err
	}
	return s.stop(err)
}

// stop makes the file refuse further changes.
func (s *File) stop(err error) error {
	s.doubt = fmt.Errorf("%w: %w", ErrInDoubt, err)
	return s.doubt
}

// Close unlocks and closes the file.
func (s *File) Close() error { return s.f.Close() }

// encode returns a copy of values.
func encode(values map[string][]byte, sequence uint64) ([]byte, error) {
	b := make([]byte, headerBytes, copyBytes)
	copy(b, magic)
	binary.LittleEndian.PutUint32(b[12:], version)
	binary.LittleEndian.PutUint64(b[16:], sequence)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		for _, part := range [][]byte{[]byte(key), values[key]} {
			b = append(binary.LittleEndian.AppendUint16(b, uint16(len(part))), part...)
		}
	}
	if len(b) > copyBytes {
		return nil, fmt.Errorf("values take %d bytes, more than %d", len(b), copyBytes)
	}
	binary.LittleEndian.PutUint32(b[24:], uint32(len(b)-headerBytes))
	binary.LittleEndian.PutUint32(b[8:], crc32.Checksum(b[12:], castagnoli))
	return b[:copyBytes], nil
}

func decode(b []byte) (values map[string][]byte, sequence uint64, err error) {
	length := int(binary.LittleEndian.Uint32(b[24:]))
	if string(b[:len(magic)]) != magic || length < 0 || length > copyBytes-headerBytes ||
		binary.LittleEndian.Uint32(b[8:]) != crc32.Checksum(b[12:headerBytes+length], castagnoli) {
		return nil, 0, ErrDamaged
	}
	if v := binary.LittleEndian.Uint32(b[12:]); v != version {
		return nil, 0, fmt.Errorf("has version %d, and this build knows version %d: run the build that wrote it, or a newer one", v, version)
	}
	values = map[string][]byte{}
	rest := b[headerBytes : headerBytes+length]
	take := func() []byte {
		if len(rest) < 2 || len(rest)-2 < int(binary.LittleEndian.Uint16(rest)) {
			err, rest = ErrDamaged, nil
			return nil
		}
		n := int(binary.LittleEndian.Uint16(rest))
		part := slices.Clone(rest[2 : 2+n : 2+n])
		rest = rest[2+n:]
		return part
	}
	for len(rest) > 0 {
		key := take()
		values[string(key)] = append([]byte{}, take()...)
	}
	return values, binary.LittleEndian.Uint64(b[16:]), err
}
