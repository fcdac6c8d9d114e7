package segment

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/hashicorp/raft"

	"quorate/raftstore/log/diskio"
	"quorate/raftstore/smalldisk"
)

// edit replaces the content of a file.
func edit(t testing.TB, path string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(b), 0o600); err != nil {
		t.Fatal(err)
	}
}

// reopened opens a folder, reads all of it and closes it.
func reopened(dir string) (all []*raft.Log, err error) {
	l, err := Open(Config{Dir: dir, Capacity: testCapacity, Logger: quiet()})
	if err != nil {
		return nil, err
	}
	all, err = readAll(l)
	return all, errors.Join(err, l.Close())
}

func isDamage(err error) bool {
	_, is := errors.AsType[*Damage](err)
	return is
}

// interrupted returns a folder whose last append, of three entries after the others, was synced by
// nobody, with the place of that append in the last segment.
func interrupted(t *testing.T, closed bool) (dir string, old, last []*raft.Log, from, to int) {
	t.Helper()
	dir = t.TempDir()
	l := openIn(t, dir)
	old, last = entriesOf(1, 1, 20, 900), entriesOf(1, 21, 3, 700)
	mustAppend(t, l, old)
	_, start := l.active.span()
	mustAppend(t, l, last)
	_, end := l.active.span()
	if closed {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return dir, old, last, int(start), int(end)
}

// wantPrefix checks that a log has the old entries and the first ones of the last append.
func wantPrefix(t *testing.T, what string, got, old, last []*raft.Log) {
	t.Helper()
	all := append(old[:len(old):len(old)], last...)
	if len(got) < len(old) || len(got) > len(all) {
		t.Fatalf("%s: %d entries are left, want %d to %d", what, len(got), len(old), len(all))
	}
	for i, e := range got {
		if e.Index != all[i].Index || string(e.Data) != string(all[i].Data) {
			t.Fatalf("%s: entry %d is %d, %.20q", what, all[i].Index, e.Index, e.Data)
		}
	}
}

// A process that is killed while it writes leaves the first bytes of the append.
func TestPartOfAnAppend(t *testing.T) {
	t.Parallel()
	dir, old, last, from, to := interrupted(t, false)
	path := segmentsIn(t, dir)[1]
	for cut, i := to-1, 0; cut >= from; cut, i = cut-1-i%37, i+1 {
		edit(t, path, func(b []byte) []byte {
			clear(b[cut:])
			return b
		})
		copied := crashed(t, dir)
		got, err := reopened(copied)
		if err != nil {
			t.Fatalf("%d bytes of the append: %v", cut-from, err)
		}
		wantPrefix(t, fmt.Sprintf("%d bytes of the append", cut-from), got, old, last)
		if i%8 == 0 {
			continues(t, copied, got)
		}
	}
}

// continues checks that a log takes further entries after a crash, and has them after the next.
func continues(t *testing.T, dir string, have []*raft.Log) {
	t.Helper()
	l := openIn(t, dir)
	more := entriesOf(2, uint64(len(have)+1), 2, 1500)
	mustAppend(t, l, more)
	wantEntries(t, openIn(t, crashed(t, dir)), append(have, more...))
}

// A power failure may lose any sectors of an append that was not synced.
func TestLostSectors(t *testing.T) {
	t.Parallel()
	dir, old, last, from, to := interrupted(t, false)
	path := segmentsIn(t, dir)[1]
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sectors := (to+blockBytes-1)/blockBytes - from/blockBytes
	for lost := 1; lost < 1<<sectors; lost++ {
		torn := slices.Clone(whole)
		for i := range sectors {
			if lost&(1<<i) != 0 {
				sector := (from/blockBytes + i) * blockBytes
				clear(torn[max(from, sector):min(to, sector+blockBytes)])
			}
		}
		if err := os.WriteFile(path, torn, 0o600); err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("without the sectors %b", lost)
		copied := crashed(t, dir)
		got, err := reopened(copied)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		wantPrefix(t, what, got, old, last)
		if lost%16 == 1 {
			continues(t, copied, got)
		}
	}
}

// An acknowledged entry is never served changed, and never silently missing: not even where the
// damage is in the last append or a sector of an earlier one has become zero.
func TestDamageIsFound(t *testing.T) {
	t.Parallel()
	for name, closed := range map[string]bool{"after a crash": false, "after a proper stop": true} {
		t.Run(name, func(t *testing.T) {
			dir, old, last, from, to := interrupted(t, closed)
			all := append(old, last...)
			random := rand.New(rand.NewPCG(1, 2))
			for i, path := range segmentsIn(t, dir) {
				whole, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				end := to
				if i == 0 {
					_, end = usedOf(t, dir, i)
				}
				for range 150 {
					at, bit := random.IntN(end), byte(1)<<random.IntN(8)
					damaged := slices.Clone(whole)
					damaged[at] ^= bit
					try(t, dir, path, damaged, all, fmt.Sprintf("segment %d, byte %d", i, at), isPadding(whole, at))
				}
				for sector := blockBytes; sector < end; sector += blockBytes {
					if i == 1 && sector+blockBytes > from {
						break // looks as if the last append was interrupted
					}
					damaged := slices.Clone(whole)
					clear(damaged[sector : sector+blockBytes])
					try(t, dir, path, damaged, all, fmt.Sprintf("segment %d, sector at %d lost", i, sector), false)
				}
				if err := os.WriteFile(path, whole, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func usedOf(t *testing.T, dir string, i int) (last uint64, end int) {
	t.Helper()
	l := openIn(t, crashed(t, dir))
	if err := l.files[i].index(func(*Record) {}); err != nil {
		t.Fatal(err)
	}
	c, err := l.files[i].scan(l.files[i].last, func(*Record) {})
	if err != nil {
		t.Fatal(err)
	}
	return l.files[i].last, int(c.end)
}

// isPadding reports whether a byte has no meaning: the rest of the first block, and what fills up a
// frame.
func isPadding(b []byte, at int) bool {
	if at < blockBytes {
		return at >= blockUsed
	}
	for offset := blockBytes; offset < len(b); {
		rec, size, err := parseFrame(b[offset:])
		if err != nil {
			return false
		}
		if at < offset+int(size) {
			return at >= offset+headerBytes+len(rec.Data)+len(rec.Extensions)
		}
		offset += int(size)
	}
	return false
}

// try reads the log with a segment of another content, and checks that it is reported, or harmless.
func try(t *testing.T, dir, path string, content []byte, all []*raft.Log, what string, harmless bool) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := reopened(crashed(t, dir))
	if err != nil && !isDamage(err) {
		t.Fatalf("%s: %v", what, err)
	}
	for i, e := range got {
		if e.Index != all[i].Index || e.Term != all[i].Term || string(e.Data) != string(all[i].Data) {
			t.Fatalf("%s: entry %d is %d, %.20q", what, all[i].Index, e.Index, e.Data)
		}
	}
	if err == nil && (len(got) != len(all) || !harmless) {
		t.Fatalf("%s: not noticed; %d of %d entries", what, len(got), len(all))
	}
}

// A file that was cut short is noticed, wherever it was cut and however the log was stopped.
func TestCutFile(t *testing.T) {
	t.Parallel()
	for name, closed := range map[string]bool{"after a crash": false, "after a proper stop": true} {
		t.Run(name, func(t *testing.T) {
			dir, _, _, from, _ := interrupted(t, closed)
			path := segmentsIn(t, dir)[1]
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			for size := info.Size() - 1; size > 0; size -= 1 + size/50 {
				if size < int64(from) {
					size = min(size, int64(from)) // at the end of an entry
				}
				if err := os.Truncate(path, size); err != nil {
					t.Fatal(err)
				}
				if got, err := reopened(dir); !isDamage(err) {
					t.Fatalf("cut to %d bytes: %d entries, %v", size, len(got), err)
				}
			}
		})
	}
}

// Damage to an old entry does not hide the later ones of its segment, which a node may need.
func TestEntriesAfterDamage(t *testing.T) {
	t.Parallel()
	dir, old, last, _, _ := interrupted(t, false)
	edit(t, segmentsIn(t, dir)[0], func(b []byte) []byte {
		copy(b[blockBytes+3*int(FrameBytes(900))+100:], "damage")
		return b
	})
	l := openIn(t, dir)
	if _, err := l.Read(4, 1); !isDamage(err) {
		t.Errorf("the damaged entry: %v", err)
	}
	if records, err := l.Read(1, 100); err != nil || len(records) != 3 {
		t.Errorf("%d entries before it, %v", len(records), err)
	}
	if err := l.Check(t.Context(), 5, func(*Record) {}); err != nil {
		t.Error(err)
	}
	var d *Damage
	if err := l.Check(t.Context(), 2, func(*Record) {}); !errors.As(err, &d) || d.Index != 4 {
		t.Errorf("all entries: %v", err)
	}
	for index := uint64(5); index <= last[2].Index; index++ {
		if _, err := l.Read(index, 1); err != nil {
			t.Errorf("entry %d: %v", index, err)
		}
	}
	mustAppend(t, l, entriesOf(1, uint64(len(old)+4), 1, 10))
}

// Damage that happens while the log is open is found, too.
func TestDamageWhileOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openIn(t, dir)
	mustAppend(t, l, entriesOf(1, 1, 12, 900))
	edit(t, segmentsIn(t, dir)[0], func(b []byte) []byte {
		copy(b[blockBytes+3*int(FrameBytes(900)):], "damaged header")
		return b
	})
	for index := uint64(1); index <= 12; index++ {
		if _, err := l.Read(index, 1); isDamage(err) != (index == 4) || err != nil && index != 4 {
			t.Errorf("entry %d: %v", index, err)
		}
	}
	mustAppend(t, l, entriesOf(1, 13, 1, 10))
	if records, err := l.Read(5, 100); err != nil || len(records) != 9 {
		t.Errorf("%d entries after it, %v", len(records), err)
	}
}

// A full disk refuses an append whole, and takes it once there is space.
func TestFullDisk(t *testing.T) {
	for _, size := range []int{100, 3000, 30_000} {
		disk := smalldisk.New(t, 1<<20)
		l := openIn(t, disk.Dir)
		next := uint64(1)
		mustAppend(t, l, entriesOf(1, next, 5, size))
		next += 5
		disk.Fill(0)
		for {
			err := l.Append(entriesOf(1, next, 7, size))
			if err != nil {
				if errors.Is(err, ErrInDoubt) {
					t.Fatal(err)
				}
				break
			}
			next += 7
		}
		wantEntries(t, l, entriesOf(1, 1, int(next)-1, size))
		got, err := reopened(crashed(t, disk.Dir)) // with the first entries of the append that failed, if any
		if err != nil {
			t.Fatal(err)
		}
		wantPrefix(t, "after a crash", got, entriesOf(1, 1, int(next)-1, size), entriesOf(1, next, 7, size))
		disk.Clear()
		mustAppend(t, l, entriesOf(1, next, 7, size))
		wantEntries(t, openIn(t, crashed(t, disk.Dir)), entriesOf(1, 1, int(next)+6, size))
	}
}

// What Reserve has allocated takes appends after other files have filled the disk, and an append to
// a disk that is nearly full gets along with a smaller segment.
func TestReservedSpace(t *testing.T) {
	disk := smalldisk.New(t, 1<<20)
	l := openIn(t, disk.Dir)
	mustAppend(t, l, entriesOf(1, 1, 1, 100))
	if err := l.Reserve(); err != nil {
		t.Fatal(err)
	}
	disk.Fill(0)
	mustAppend(t, l, entriesOf(1, 2, 20, 1000)) // more than the first segment has space for
	if err := l.Reserve(); err == nil {
		t.Error("reserved space on a full disk")
	}
	disk.Clear()
	disk.Fill(testCapacity / 2)
	mustAppend(t, l, entriesOf(1, 22, 15, 1000))
	wantEntries(t, openIn(t, crashed(t, disk.Dir)), append(append(entriesOf(1, 1, 1, 100), entriesOf(1, 2, 20, 1000)...), entriesOf(1, 22, 15, 1000)...))
	disk.Clear()
}

// A sync that fails leaves the outcome unknown: nothing is written any more, not even by Close.
func TestSyncFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openIn(t, dir)
	mustAppend(t, l, entriesOf(1, 1, 3, 10))
	failure := errors.New("input/output error")
	l.datasync = func(*os.File) error { return failure }
	if err := l.Append(entriesOf(1, 4, 1, 10)); !errors.Is(err, ErrInDoubt) || !errors.Is(err, failure) {
		t.Fatal(err)
	}
	l.datasync = diskio.Datasync
	before := contentOf(t, dir)
	for what, err := range map[string]error{
		"append": l.Append(entriesOf(1, 4, 1, 10)), "truncate": l.Truncate(2), "reset": l.Reset(), "drop": l.DropOldest(),
	} {
		if !errors.Is(err, ErrInDoubt) {
			t.Errorf("%s: %v", what, err)
		}
	}
	wantEntries(t, l, entriesOf(1, 1, 3, 10))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if after := contentOf(t, dir); len(after) != len(before) || fmt.Sprint(after) != fmt.Sprint(before) {
		t.Error("the files have changed")
	}
}

func FuzzParseFrame(f *testing.F) {
	for _, e := range append(entriesOf(1, 1, 2, 40), &raft.Log{Index: 300, Term: 1 << 33, Extensions: []byte("x")}) {
		f.Add(appendFrame(nil, e, 1, 0))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		rec, size, err := parseFrame(b)
		if err != nil {
			return
		}
		var e raft.Log
		rec.Into(&e)
		again, _, err := parseFrame(append(appendFrame(nil, &e, rec.batch, rec.left), io.EOF.Error()...))
		if err != nil || again.Index != rec.Index || string(again.Data) != string(rec.Data) || FrameBytes(len(rec.Data)+len(rec.Extensions)) != size {
			t.Fatalf("%+v became %+v, %v", rec, again, err)
		}
	})
}
