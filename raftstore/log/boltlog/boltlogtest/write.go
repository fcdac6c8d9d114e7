// Package boltlogtest writes and damages logs of former builds, for tests.
package boltlogtest

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"strings"
	"testing"

	"github.com/hashicorp/go-msgpack/v2/codec"
	"github.com/hashicorp/raft"
	"go.etcd.io/bbolt"
)

// Write writes a log with entries and stable values, as former builds did, into a new file that is
// not closed properly: bolt has not stored its list of free pages.
func Write(t testing.TB, path string, entries []*raft.Log, values map[string]string) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoFreelistSync: true})
	if err == nil {
		err = db.Update(func(tx *bbolt.Tx) error { return fill(tx, entries, values) })
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func fill(tx *bbolt.Tx, entries []*raft.Log, values map[string]string) error {
	logs, err := tx.CreateBucket([]byte("logs"))
	if err != nil {
		return err
	}
	conf, err := tx.CreateBucket([]byte("conf"))
	if err != nil {
		return err
	}
	for key, value := range values {
		sum := crc32.Update(crc32.Checksum([]byte(key), castagnoli()), castagnoli(), []byte(value))
		if err := conf.Put([]byte(key), []byte(value)); err != nil {
			return err
		}
		if err := conf.Put([]byte("crc32c/"+key), binary.BigEndian.AppendUint32(nil, sum)); err != nil {
			return err
		}
	}
	for _, e := range entries {
		record, err := Record(e)
		if err != nil {
			return err
		}
		if err := logs.Put(binary.BigEndian.AppendUint64(nil, e.Index), record); err != nil {
			return err
		}
	}
	return nil
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// Record returns the record of an entry: as raft-boltdb writes it, with a checksum of all its other
// bytes at the end of Extensions.
func Record(e *raft.Log) ([]byte, error) {
	const marker = "\x01CRC."
	sealed := *e
	sealed.Extensions = append(append([]byte{}, e.Extensions...), marker...)
	var handle codec.MsgpackHandle
	handle.TimeNotBuiltin = true
	var b []byte
	if err := codec.NewEncoderBytes(&b, &handle).Encode(&sealed); err != nil {
		return nil, err
	}
	at := strings.Index(string(b), marker) + 1
	sum := crc32.Update(crc32.Checksum(b[:at], castagnoli()), castagnoli(), b[at+crc32.Size:])
	binary.BigEndian.PutUint32(b[at:], sum)
	return b, nil
}

// Damage changes a byte of the file where it has the text.
func Damage(t testing.TB, path, text string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(b), text)
	if at < 0 {
		t.Fatalf("%s does not have %.20q", path, text)
	}
	b[at] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
