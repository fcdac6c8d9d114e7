package log

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/raft"
	"go.etcd.io/bbolt"
)

// wantCorrupt checks that err is a *Corrupt whose message tells an operator the file and the entry.
func wantCorrupt(t *testing.T, err error, path string, index uint64) {
	t.Helper()
	var c *Corrupt
	if !errors.As(err, &c) {
		t.Fatalf("error %v is not Corrupt", err)
	}
	if c.Index != index || c.Path != path || !strings.Contains(c.Error(), path) || strings.Contains(c.Error(), "\n") {
		t.Fatalf("error %q, want one of entry %d in %s", err, index, path)
	}
}

// rewrite replaces the stored value of an entry.
func rewrite(t *testing.T, s *Store, index uint64, value []byte) {
	t.Helper()
	s.cache.clear()
	err := s.db.Update(func(tx *bbolt.Tx) error {
		key := indexKey(index)
		if value == nil {
			return tx.Bucket(logsBucket()).Delete(key[:])
		}
		return tx.Bucket(logsBucket()).Put(key[:], value)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestDamagedEntryIsFoundByAllReaders(t *testing.T) {
	entry := entries(5, 1, 40)[0]
	record := appendRecord(nil, entry)
	damages := map[string][]byte{
		"missing":        nil,
		"another entry":  appendRecord(nil, entries(6, 1, 40)[0]),
		"no checksum":    []byte("\x86\xaaAppendedAt\xc0\xa4Data\xc0\xaaExtensions\xc0\xa5Index\x05\xa4Term\x01\xa4Type\x00"),
		"something else": []byte("hello"),
		"cut short":      record[:len(record)-1],
		"too long":       append(record[:len(record):len(record)], 0),
		"empty":          {},
	}
	for name, value := range damages {
		t.Run(name, func(t *testing.T) {
			path := pathOf(t)
			s := open(t, path)
			fill(t, s, 1, 9, 40)
			rewrite(t, s, 5, value)
			if value != nil {
				wantCorrupt(t, s.GetLog(5, new(raft.Log)), path, 5)
			}
			wantCorrupt(t, s.Verify(t.Context(), 2), path, 5)
			_, _, err := readAll(t, s, 0, 9, 0)
			wantCorrupt(t, err, path, 5)
			if err := s.Verify(t.Context(), 6); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// The checksum of a stable value covers its key as well.
func TestValueUnderAnotherKeyIsFound(t *testing.T) {
	s := open(t, pathOf(t))
	const other = "Other"
	if err := errors.Join(s.SetUint64([]byte(CurrentTerm), 7), s.SetUint64([]byte(other), 8)); err != nil {
		t.Fatal(err)
	}
	err := s.db.Update(func(tx *bbolt.Tx) error {
		conf := tx.Bucket(confBucket())
		value, seal := bytes.Clone(conf.Get([]byte(other))), bytes.Clone(conf.Get(checksumKey([]byte(other))))
		return errors.Join(conf.Put([]byte(CurrentTerm), value), conf.Put(checksumKey([]byte(CurrentTerm)), seal))
	})
	if err != nil {
		t.Fatal(err)
	}
	if term, err := s.GetUint64([]byte(CurrentTerm)); !errors.As(err, new(*Corrupt)) {
		t.Errorf("the term is %d (%v)", term, err)
	}
}

func TestDamageOfAnyEntryIsFound(t *testing.T) {
	const last = 9
	for index := uint64(1); index <= last; index++ {
		path := pathOf(t)
		s := open(t, path)
		fill(t, s, 1, last, 40)
		rewrite(t, s, index, []byte("hello"))
		wantCorrupt(t, s.Verify(t.Context(), 1), path, index)
	}
}

func TestEachFlippedBitOfARecordIsFound(t *testing.T) {
	for _, e := range []*raft.Log{entries(300, 1, 200)[0], {Index: 300, Term: 1 << 33, Type: raft.LogNoop}} {
		record := appendRecord(nil, e)
		if _, err := parseRecord(record, e.Index); err != nil {
			t.Fatal(err)
		}
		for i := range len(record) * 8 {
			record[i/8] ^= 1 << (i % 8)
			if _, err := parseRecord(record, e.Index); err == nil {
				t.Errorf("a flip of bit %d of byte %d was not detected", i%8, i/8)
			}
			record[i/8] ^= 1 << (i % 8)
		}
		for n := range record {
			if _, err := parseRecord(record[:n], e.Index); err == nil {
				t.Errorf("the first %d bytes passed as a record", n)
			}
		}
	}
}

func FuzzParseRecord(f *testing.F) {
	for _, e := range append(entries(1, 2, 40), &raft.Log{Index: 300, Term: 1 << 33, Extensions: []byte("x")}) {
		f.Add(appendRecord(nil, e), e.Index)
	}
	f.Fuzz(func(t *testing.T, b []byte, index uint64) {
		rec, err := parseRecord(b, index)
		if err != nil {
			return
		}
		var got, again raft.Log
		if rec.into(&got) != nil {
			return
		}
		second, err := parseRecord(appendRecord(nil, &got), index)
		if err != nil || second.into(&again) != nil {
			t.Fatalf("%v: own encoding of %+v does not parse", err, got)
		}
		if diff := cmp.Diff(got, again); diff != "" {
			t.Fatal(diff)
		}
	})
}

// use opens a file that may be damaged and reads all of it. It fails the test unless what it reads
// is right and each error is a *Corrupt.
func use(t *testing.T, path string) (last uint64, err error) {
	t.Helper()
	s, err := Open(Config{Path: path, Logger: quiet(), MaxBytes: 64 << 20})
	if err != nil {
		return 0, err
	}
	defer s.Close() // may also detect damage
	last, _ = s.LastIndex()
	first, _ := s.FirstIndex()
	if err := s.Verify(t.Context(), first); err != nil {
		return last, err
	}
	if first == 0 {
		return last, nil
	}
	got, position, err := readAll(t, s, first-1, last, 0)
	if err == nil && (position != last || len(got) != int(last-first+1)) {
		t.Fatalf("read %d entries of %d to %d, up to %d", len(got), first, last, position)
	}
	return last, err
}

// fileToDamage makes a log file of 280 entries, closed properly or not.
func fileToDamage(t *testing.T, clean bool) (path string, content []byte) {
	t.Helper()
	path = pathOf(t)
	s := open(t, path)
	fill(t, s, 1, 300, 1331)
	if err := s.DeleteRange(281, 300); err != nil { // so that there are free pages
		t.Fatal(err)
	}
	if clean {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	} else {
		path = crashed(t, path)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, content
}

func TestTruncatedFileIsFound(t *testing.T) {
	for name, clean := range map[string]bool{"closed properly": true, "after a crash": false} {
		t.Run(name, func(t *testing.T) {
			path, whole := fileToDamage(t, clean)
			page := os.Getpagesize()
			m, err := readMeta(whole, page)
			if err != nil {
				t.Fatal(err)
			}
			used := int(m.pages) * page
			for _, size := range []int{1, 100, page, 2*page - 1, 2 * page, 3 * page, 4*page + 17, used / 2, used - page, used - 1} {
				if err := os.WriteFile(path, whole[:size], 0o600); err != nil {
					t.Fatal(err)
				}
				_, err := use(t, path)
				wantCorrupt(t, err, path, 0)
			}
			if err := os.WriteFile(path, whole[:used], 0o600); err != nil { // bolt grows files further than it uses them
				t.Fatal(err)
			}
			if last, err := use(t, path); err != nil || last != 280 {
				t.Fatal(last, err)
			}
		})
	}
}

func TestFlippedBitsOfTheFileAreFoundOrHarmless(t *testing.T) {
	for name, clean := range map[string]bool{"closed properly": true, "after a crash": false} {
		t.Run(name, func(t *testing.T) {
			path, whole := fileToDamage(t, clean)
			page := os.Getpagesize()
			m, err := readMeta(whole, page)
			if err != nil {
				t.Fatal(err)
			}
			whole = whole[:int(m.pages)*page] // bolt grows files further than it uses them
			random := rand.New(rand.NewPCG(1, 2))
			found := 0
			try := func(at int) {
				bit := byte(1) << random.IntN(8)
				whole[at] ^= bit
				if err := os.WriteFile(path, whole, 0o600); err != nil {
					t.Fatal(err)
				}
				_, err := use(t, path)
				if c := new(Corrupt); err != nil && !errors.As(err, &c) {
					t.Fatalf("byte %d: %v", at, err)
				}
				if err != nil {
					found++
				}
				whole[at] ^= bit
			}
			for range 100 {
				try(random.IntN(len(whole)))
			}
			for range 100 { // where bolt keeps its structure: the heads of pages
				try(random.IntN(int(m.pages))*page + random.IntN(48))
			}
			if found < 80 {
				t.Errorf("only %d of 200 flips were found", found)
			}
		})
	}
}
