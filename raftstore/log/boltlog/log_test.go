package boltlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"

	"quorate/raftstore/log/boltlog"
	"quorate/raftstore/log/boltlog/boltlogtest"
)

func entries(n, size int) []*raft.Log {
	out := make([]*raft.Log, n)
	for i := range out {
		out[i] = &raft.Log{
			Index: uint64(i + 1), Term: uint64(i) << (i % 40), Type: raft.LogCommand, AppendedAt: time.Unix(1_700_000_000, int64(i)).UTC(),
			Data: bytes.Repeat(fmt.Appendf(nil, "<%d>", i+1), size/4),
		}
		if i%7 == 3 {
			out[i].Type, out[i].Data, out[i].Extensions = raft.LogNoop, nil, []byte("extensions")
		}
	}
	return out
}

// read opens a file that may be damaged and reads all of it.
func read(path string) (all []*raft.Log, values map[string][]byte, err error) {
	l, err := boltlog.Open(path, 0)
	if err != nil {
		return nil, nil, err
	}
	defer l.Close() // nothing was written
	if values, err = l.Values(); err != nil {
		return nil, nil, err
	}
	err = l.Entries(func(e *raft.Log, damage error) error {
		if damage == nil {
			all = append(all, e)
		}
		return damage
	})
	return all, values, err
}

func sameEntry(a, b *raft.Log) bool {
	return a.Index == b.Index && a.Term == b.Term && a.Type == b.Type && a.AppendedAt.Equal(b.AppendedAt) &&
		bytes.Equal(a.Data, b.Data) && bytes.Equal(a.Extensions, b.Extensions)
}

func TestLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log.db")
	if _, err := boltlog.Open(path, 0); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	want := entries(300, 1331)
	boltlogtest.Write(t, path, want, map[string]string{"CurrentTerm": "\x00\x00\x00\x00\x00\x00\x00\x07"})
	all, values, err := read(path)
	if err != nil || len(values) != 1 || string(values["CurrentTerm"]) != "\x00\x00\x00\x00\x00\x00\x00\x07" {
		t.Fatalf("values %q, %v", values, err)
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Fatal(diff)
	}
	theirs, err := raftboltdb.NewBoltStore(path) // the format is the library's
	if err != nil {
		t.Fatal(err)
	}
	if term, err := theirs.GetUint64([]byte("CurrentTerm")); err != nil || term != 7 {
		t.Errorf("term %d, %v", term, err)
	}
	if _, err := boltlog.Open(path, 50*time.Millisecond); !errors.Is(err, boltlog.ErrLocked) {
		t.Errorf("a file in use: %v", err)
	}
	var got raft.Log
	if err := errors.Join(theirs.GetLog(300, &got), theirs.Close()); err != nil || !bytes.Equal(got.Data, want[299].Data) {
		t.Errorf("entry 300 is %.20q, %v", got.Data, err)
	}
}

// Whatever bit of the file has changed, and wherever it was cut, what is read is right, or the error
// is a *Damage.
func TestDamageIsFoundOrHarmless(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log.db")
	want := entries(280, 1331)
	boltlogtest.Write(t, path, want, map[string]string{"CurrentTerm": "12345678"})
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	found := 0
	try := func(what string, content []byte) {
		t.Helper()
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		all, values, err := read(path)
		if d := new(boltlog.Damage); err != nil && !errors.As(err, &d) {
			t.Fatalf("%s: %v", what, err)
		}
		if err != nil {
			found++
		} else if string(values["CurrentTerm"]) != "12345678" || !slices.EqualFunc(want, all, sameEntry) {
			t.Fatalf("%s: not noticed: %q", what, values)
		}
	}
	page := os.Getpagesize()
	for i := range 150 {
		at := random.IntN(len(whole))
		if i%2 == 0 { // where bolt keeps its structure: the heads of pages
			at = at/page*page + random.IntN(48)
		}
		damaged := bytes.Clone(whole)
		damaged[at] ^= 1 << random.IntN(8)
		try(fmt.Sprint("byte ", at), damaged)
	}
	for _, size := range []int{0, 1, 100, page, 2*page - 1, 2 * page, 3 * page, 4*page + 17, len(whole) / 4} {
		before := found
		try(fmt.Sprintf("cut to %d bytes", size), whole[:size])
		if found == before {
			t.Errorf("cut to %d bytes: not noticed", size)
		}
	}
	if found < 60 {
		t.Errorf("only %d of 159 damages were found", found)
	}
}
