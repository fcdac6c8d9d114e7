package snapshot

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"
)

// sent is a snapshot of another node, and its bytes on the wire.
type sent struct {
	content Content
	bytes   []byte
	state   []byte // decompressed
}

func snapshotToSend(t testing.TB, index uint64, size int) sent {
	t.Helper()
	leader := open(t, t.TempDir())
	id := write(t, leader, index, 1, podLike(size))
	_, r, err := leader.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	return sent{r.(Reading).Content(), b, podLike(size)}
}

// receive passes the bytes up to end to the store, and checks from where it wants them.
func receive(t testing.TB, s *Store, from sent, offset, end int) {
	t.Helper()
	p, err := s.Receive(from.content)
	if err != nil {
		t.Fatal(err)
	}
	if p.Offset() != int64(offset) {
		t.Errorf("continues after %d bytes, want %d", p.Offset(), offset)
	}
	_, err = p.Write(from.bytes[p.Offset():end])
	whole, finished := p.Finish()
	if err := errors.Join(err, finished, p.Close()); err != nil {
		t.Fatal(err)
	}
	if whole != (end == len(from.bytes)) {
		t.Errorf("whole: %v after %d of %d bytes", whole, end, len(from.bytes))
	}
}

// install does what the library does with a request to install a claimed snapshot.
func install(t testing.TB, s *Store, c Content) (id string, err error) {
	t.Helper()
	k := create(t, s, c.Index, c.Term)
	n, err := io.Copy(k, struct{ io.Reader }{bytes.NewReader(nil)}) // as the library does
	if err == nil && n != c.Size {
		err = errors.New("short read")
	}
	if err != nil {
		return "", errors.Join(err, k.Cancel())
	}
	return k.ID(), k.Close()
}

func wantDiscarded(t testing.TB, s *Store, reason string, want float64) {
	t.Helper()
	var m dto.Metric
	if err := s.metrics.discarded.WithLabelValues(reason).Write(&m); err != nil {
		t.Fatal(err)
	}
	if got := m.GetCounter().GetValue(); got != want {
		t.Errorf("%v parts discarded because %s, want %v", got, reason, want)
	}
}

// A snapshot that arrives in pieces, also of several processes, is installed without a second copy,
// and is one like all others afterwards.
func TestPartialSnapshotIsResumedAndInstalled(t *testing.T) {
	from, dir := snapshotToSend(t, 20, 3_000_000), t.TempDir()
	s := open(t, dir)
	old := write(t, s, 5, 1, podLike(1000))
	receive(t, s, from, 0, 1000)
	receive(t, s, from, 1000, 70_000)
	if err := s.Claim(from.content); !errors.Is(err, ErrNotReceived) {
		t.Errorf("an incomplete snapshot is claimed: %v", err)
	}
	if _, err := install(t, s, from.content); err == nil {
		t.Error("an incomplete snapshot was installed")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = open(t, dir)
	receive(t, s, from, 70_000, len(from.bytes))
	if got := s.partialBytes(); got != from.content.Size {
		t.Errorf("%d bytes received, want %d", got, from.content.Size)
	}
	if _, err := install(t, s, from.content); err == nil {
		t.Error("a snapshot that was not claimed was installed")
	}
	if err := s.Claim(from.content); err != nil {
		t.Fatal(err)
	}
	received, err := os.Stat(filepath.Join(s.partials.dir, stateFile))
	if err != nil {
		t.Fatal(err)
	}
	id, err := install(t, s, from.content)
	if err != nil {
		t.Fatal(err)
	}
	if installed, err := os.Stat(path(s, id, stateFile)); err != nil || !os.SameFile(received, installed) {
		t.Errorf("the file that arrived is not the one installed: %v", err)
	}
	if exists(s.partials.dir) || s.partialBytes() != 0 {
		t.Error("the partial snapshot is still there")
	}
	for _, s := range []*Store{s, open(t, dir)} {
		wantStored(t, s, id, old)
		wantFiles(t, s, id, old)
		if got, err := restore(s, id); err != nil || !bytes.Equal(got, from.state) {
			t.Errorf("restored %d bytes, %v", len(got), err)
		}
	}
	if _, err := install(t, s, from.content); err == nil {
		t.Error("the same content was installed twice")
	}
}

// Installed snapshots displace the oldest, as those that the node takes do.
func TestInstalledSnapshotsAreBounded(t *testing.T) {
	s := open(t, t.TempDir())
	var ids []string
	for index := uint64(10); index < 50; index += 10 {
		from := snapshotToSend(t, index, 10_000)
		receive(t, s, from, 0, len(from.bytes))
		if err := s.Claim(from.content); err != nil {
			t.Fatal(err)
		}
		id, err := install(t, s, from.content)
		if err != nil {
			t.Fatal(err)
		}
		ids = append([]string{id}, ids...)
	}
	wantStored(t, s, ids[:DefaultRetain]...)
	wantFiles(t, s, ids[1], ids[0])
}

// What a crash left after the last sync does not count, and damage begins the snapshot anew.
func TestDamagedPartialSnapshotBeginsAnew(t *testing.T) {
	from := snapshotToSend(t, 20, 3_000_000)
	for name, damage := range map[string]func([]byte) []byte{
		"flipped bit": func(b []byte) []byte { b[500] ^= 1; return b },
		"cut short":   func(b []byte) []byte { return b[:500] },
		"unsynced":    func(b []byte) []byte { return append(b, "what a crash left"...) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir)
			receive(t, s, from, 0, 1000)
			change(t, filepath.Join(s.partials.dir, stateFile), damage)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, dir)
			offset := 0
			if name == "unsynced" {
				offset = 1000
			}
			receive(t, s, from, offset, len(from.bytes))
			wantDiscarded(t, s, discardDamaged, float64((1000-offset)/1000))
			if err := s.Claim(from.content); err != nil {
				t.Fatal(err)
			}
			id, err := install(t, s, from.content)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := restore(s, id); err != nil || !bytes.Equal(got, from.state) {
				t.Errorf("restored %d bytes, %v", len(got), err)
			}
		})
	}
}

// Bytes that differ from those that the leader has described are never installed.
func TestWrongBytesAreDiscarded(t *testing.T) {
	from := snapshotToSend(t, 20, 100_000)
	s := open(t, t.TempDir())
	p, err := s.Receive(from.content)
	if err != nil {
		t.Fatal(err)
	}
	wrong := bytes.Clone(from.bytes)
	wrong[len(wrong)/2] ^= 1
	_, err = p.Write(wrong)
	whole, finished := p.Finish()
	var corrupt *Corrupt
	if err != nil || whole || !errors.As(finished, &corrupt) {
		t.Errorf("finished: %v, %v, %v", whole, finished, err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Claim(from.content); !errors.Is(err, ErrNotReceived) {
		t.Errorf("claimed: %v", err)
	}
	wantDiscarded(t, s, discardDamaged, 1)
	receive(t, s, from, 0, len(from.bytes))

	p, err = s.Receive(from.content)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write([]byte("x")); err == nil {
		t.Error("accepted more bytes than the snapshot has")
	}
	if _, err := s.Receive(from.content); err == nil {
		t.Error("two receive at the same time")
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// There is at most one partial snapshot, and none that nobody needs.
func TestPartialSnapshotIsRemoved(t *testing.T) {
	a, b := snapshotToSend(t, 20, 100_000), snapshotToSend(t, 30, 100_000)
	s := open(t, t.TempDir())
	receive(t, s, a, 0, 1000)
	receive(t, s, b, 0, 500)
	receive(t, s, a, 0, 700)
	same := a // a snapshot of another leader, of the same entry
	same.content.Checksum++
	receive(t, s, same, 0, 600)
	receive(t, s, a, 0, 700)
	wantDiscarded(t, s, discardSuperseded, 4)

	if err := s.DiscardOutdated(19); err != nil {
		t.Error(err)
	}
	receive(t, s, a, 700, len(a.bytes))
	p, err := s.Receive(a.content)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.DiscardOutdated(20), s.DiscardIdle()); err != nil || !exists(s.partials.dir) {
		t.Errorf("a snapshot was removed while it arrived: %v", err)
	}
	if _, err := p.Finish(); err != nil {
		t.Error(err)
	}
	if err := errors.Join(p.Close(), s.Claim(a.content), s.DiscardIdle()); err != nil || !exists(s.partials.dir) {
		t.Errorf("a snapshot was removed before it could be installed: %v", err)
	}
	if err := s.DiscardOutdated(20); err != nil || exists(s.partials.dir) {
		t.Errorf("a snapshot that nobody needs was kept: %v", err)
	}
	wantDiscarded(t, s, discardOutdated, 1)

	receive(t, s, b, 0, len(b.bytes))
	if err := s.DiscardIdle(); err != nil || exists(s.partials.dir) {
		t.Errorf("kept on a full disk: %v", err)
	}
	wantDiscarded(t, s, discardNoSpace, 1)
	p, err = s.Receive(b.content)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Discard(), p.Close()); err != nil || exists(s.partials.dir) {
		t.Errorf("kept without space for the rest: %v", err)
	}
	receive(t, s, b, 0, len(b.bytes))
}

// Whatever a crash or another build has left in place of the description is removed.
func TestUnreadableProgressIsRemoved(t *testing.T) {
	from := snapshotToSend(t, 20, 100_000)
	for name, text := range map[string]string{
		"empty":                "",
		"another format":       "2 20 1 1000 0000000000000000 500 0000000000000000\n",
		"more than everything": "1 20 1 1000 0000000000000000 1001 0000000000000000\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir)
			receive(t, s, from, 0, 1000)
			change(t, filepath.Join(s.partials.dir, progressFile), func([]byte) []byte { return []byte(text) })
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if s = open(t, dir); exists(s.partials.dir) {
				t.Error("it is still there")
			}
			receive(t, s, from, 0, len(from.bytes))
		})
	}
}

// A long transfer is synced on the way, so that a crash of the machine loses little of it.
func TestPartialSnapshotIsSyncedOnTheWay(t *testing.T) {
	s := open(t, t.TempDir())
	p, err := s.Receive(Content{Index: 20, Term: 1, Size: 10 * syncBytes})
	if err != nil {
		t.Fatal(err)
	}
	piece := make([]byte, 1<<20)
	for range 2*syncBytes/len(piece) + 1 {
		if _, err := p.Write(piece); err != nil {
			t.Fatal(err)
		}
		if lost := p.Offset() - s.partialBytes(); lost >= syncBytes {
			t.Fatalf("%d bytes are not synced", lost)
		}
	}
	if s.partialBytes() != 2*syncBytes {
		t.Errorf("%d bytes synced, want %d", s.partialBytes(), 2*syncBytes)
	}
	if err := p.Close(); err != nil || s.partialBytes() != 2*syncBytes+1<<20 {
		t.Errorf("%d bytes synced in the end, %v", s.partialBytes(), err)
	}
}

// A slow transfer is synced in time, too.
func TestSlowPartialSnapshotIsSynced(t *testing.T) {
	s := open(t, t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		p, err := s.Receive(Content{Index: 20, Term: 1, Size: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []int64{0, 0, 3, 3, 3, 6} {
			time.Sleep(syncInterval * 2 / 5)
			if _, err := p.Write([]byte{1}); err != nil || s.partialBytes() != want {
				t.Errorf("%d bytes of %d are synced, want %d; %v", s.partialBytes(), i+1, want, err)
			}
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Archive, which inspect and restore read, knows nothing of partial snapshots.
func TestArchiveIgnoresPartialSnapshots(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	id := write(t, s, 10, 1, podLike(1000))
	receive(t, s, snapshotToSend(t, 20, 100_000), 0, 1000)
	found, err := NewArchive(dir).Examine()
	if err != nil || len(found) != 1 || found[0].ID != id || found[0].Damage != nil {
		t.Errorf("found %+v, %v", found, err)
	}
}
