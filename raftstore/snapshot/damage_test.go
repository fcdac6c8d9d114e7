package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// wantCorrupt checks that err is a *Corrupt whose message tells an operator the snapshot and its
// path.
func wantCorrupt(t *testing.T, s *Store, err error, id string) {
	t.Helper()
	var c *Corrupt
	if !errors.As(err, &c) {
		t.Fatalf("error %v is not Corrupt", err)
	}
	if c.ID != id || !strings.Contains(err.Error(), filepath.Join(s.dir, id)) || strings.Contains(err.Error(), "\n") {
		t.Fatalf("error %q, want one of snapshot %s", err, id)
	}
}

func TestDamagedSnapshotIsFound(t *testing.T) {
	flip := func(at int) func([]byte) []byte {
		return func(b []byte) []byte { b[at] ^= 4; return b }
	}
	type damage struct {
		file string
		fn   func([]byte) []byte
	}
	damages := map[string]damage{
		"state longer":     {stateFile, func(b []byte) []byte { return append(b, 0) }},
		"no seal":          {sealFile, nil},
		"no meta":          {metaFile, nil},
		"no state":         {stateFile, nil},
		"empty seal":       {sealFile, func(b []byte) []byte { return b[:0] }},
		"other index":      {metaFile, func(b []byte) []byte { return bytes.Replace(b, []byte(`"Index":10,`), []byte(`"Index":11,`), 1) }},
		"other address":    {metaFile, func(b []byte) []byte { return bytes.Replace(b, []byte("10.0.0.2"), []byte("10.0.0.3"), 1) }},
		"other suffrage":   {metaFile, func(b []byte) []byte { return bytes.Replace(b, []byte(`"Suffrage":1`), []byte(`"Suffrage":0`), 1) }},
		"meta cut short":   {metaFile, func(b []byte) []byte { return b[:len(b)/2] }},
		"seal of no meta":  {sealFile, flip(3)},
		"state flip begin": {stateFile, flip(1)},
		"state flip end":   {stateFile, func(b []byte) []byte { b[len(b)-1] ^= 1; return b }},
		"state flip":       {stateFile, func(b []byte) []byte { b[len(b)/2] ^= 1; return b }},
	}
	for _, n := range []int{0, 1, 7, 8, 20, 4096, 100_000} {
		damages[fmt.Sprintf("state cut to %d bytes", n)] = damage{stateFile, func(b []byte) []byte { return b[:n] }}
	}
	for name, d := range damages {
		t.Run(name, func(t *testing.T) {
			s := open(t, t.TempDir())
			id := write(t, s, 10, 1, podLike(300_000))
			if d.fn == nil {
				if err := os.Remove(path(s, id, d.file)); err != nil {
					t.Fatal(err)
				}
			} else {
				change(t, path(s, id, d.file), d.fn)
			}
			_, err := restore(s, id)
			wantCorrupt(t, s, err, id)
			_, r, err := s.OpenReader(id)
			if err == nil {
				_, err = io.Copy(io.Discard, r)
				err = errors.Join(err, r.Close())
			}
			wantCorrupt(t, s, err, id)
		})
	}
}

// Open verifies a snapshot again if its file has changed, even if the size is the same.
func TestSnapshotIsVerifiedAgainWhenItHasChanged(t *testing.T) {
	s := open(t, t.TempDir())
	id := write(t, s, 10, 1, podLike(1000))
	if _, err := restore(s, id); err != nil {
		t.Fatal(err)
	}
	state := path(s, id, stateFile)
	change(t, state, func(b []byte) []byte { b[len(b)/2] ^= 4; return b })
	later := time.Now().Add(time.Second) // beyond the resolution of the file system's timestamps
	if err := os.Chtimes(state, later, later); err != nil {
		t.Fatal(err)
	}
	_, _, err := s.Open(id)
	wantCorrupt(t, s, err, id)
}

func TestFlippedBitOfMetaIsFoundOrHarmless(t *testing.T) {
	s := open(t, t.TempDir())
	id := write(t, s, 10, 1, podLike(1000))
	want, err := s.verify(id)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path(s, id, metaFile))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(whole)*8; i += 3 { // each byte
		whole[i/8] ^= 1 << (i % 8)
		change(t, path(s, id, metaFile), func([]byte) []byte { return whole })
		s.verified = fileVersion{}
		got, err := s.verify(id)
		if c := new(Corrupt); err != nil && !errors.As(err, &c) {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); err == nil && diff != "" {
			t.Errorf("bit %d of byte %d: %s", i%8, i/8, diff)
		}
		whole[i/8] ^= 1 << (i % 8)
	}
}
