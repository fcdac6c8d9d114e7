package boltlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/raft"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

const (
	// checksumPrefix precedes the key of a stable value in the key of its checksum.
	checksumPrefix = "crc32c/"
	readAheadBytes = 1 << 20
)

// ErrLocked reports that another process has the file open.
var ErrLocked = errors.New("in use by another process")

// Damage reports a damaged file.
type Damage struct {
	Index  uint64 // of the damaged entry; 0 if the damage is not in one entry
	Reason string
}

func (d *Damage) Error() string {
	if d.Index > 0 {
		return fmt.Sprintf("entry %d %s", d.Index, d.Reason)
	}
	return d.Reason
}

// Log is an open log of a former build. It changes nothing.
type Log struct{ db *bbolt.DB }

// Open opens the log at path, and waits for another process to unlock it.
func Open(path string, wait time.Duration) (*Log, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if least := 2 * int64(os.Getpagesize()); info.Size() < least {
		return nil, &Damage{Reason: fmt.Sprintf("is cut short: %d bytes", info.Size())}
	}
	db, err := openBolt(path, wait)
	if err != nil {
		return nil, err
	}
	l := &Log{db}
	if err := recoverDamage(func() error { return checkStructure(path, db.Info().PageSize) }); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return l, nil
}

// openBolt calls bbolt.Open, which for reading alone does not walk the file.
func openBolt(path string, wait time.Duration) (db *bbolt.DB, err error) {
	var file *os.File // closed, which releases its lock, if bolt panics
	options := bbolt.Options{
		ReadOnly: true, Timeout: wait,
		OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
			f, err := os.OpenFile(name, flag, mode)
			file = f
			return f, err
		},
	}
	err = recoverDamage(func() error {
		db, err = bbolt.Open(path, 0o600, &options)
		return err
	})
	var damage *Damage
	switch {
	case err == nil:
		return db, nil
	case errors.As(err, &damage):
		// bolt's mapping of the file remains and would keep the lock.
		return nil, errors.Join(err, syscall.Flock(int(file.Fd()), syscall.LOCK_UN), file.Close())
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, ErrLocked
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrChecksum), errors.Is(err, bolterrors.ErrVersionMismatch):
		return nil, &Damage{Reason: fmt.Sprintf("is not a log file, or its beginning is damaged (%v)", err)}
	default:
		return nil, err
	}
}

// Values returns the stable values.
func (l *Log) Values() (values map[string][]byte, err error) {
	values = map[string][]byte{}
	err = l.view(func(tx *bbolt.Tx) error {
		conf := tx.Bucket(confBucket())
		return conf.ForEach(func(key, value []byte) error {
			if sealed, is := strings.CutPrefix(string(key), checksumPrefix); is {
				if conf.Get([]byte(sealed)) == nil {
					return &Damage{Reason: fmt.Sprintf("the stored %s is missing", sealed)}
				}
				return nil
			}
			if seal := conf.Get([]byte(checksumPrefix + string(key))); seal != nil && !bytes.Equal(seal, checksumOf(key, value)) {
				return &Damage{Reason: fmt.Sprintf("the checksum of the stored %s does not match", key)}
			}
			values[string(key)] = bytes.Clone(value)
			return nil
		})
	})
	return values, err
}

// Entries calls each for all entries, in order: with the entry, which it may keep, or with the
// damage to it.
func (l *Log) Entries(each func(entry *raft.Log, damage error) error) error {
	return l.view(func(tx *bbolt.Tx) error {
		return tx.Bucket(logsBucket()).ForEach(func(key, value []byte) error {
			if len(key) != keyBytes {
				return &Damage{Reason: "a key is not an index"}
			}
			index := binary.BigEndian.Uint64(key)
			entry := new(raft.Log)
			rec, err := parseRecord(bytes.Clone(value), index)
			if err == nil {
				err = rec.into(entry)
			}
			if err != nil {
				return each(nil, &Damage{Index: index, Reason: err.Error()})
			}
			return each(entry, nil)
		})
	})
}

// view runs fn in a transaction.
func (l *Log) view(fn func(*bbolt.Tx) error) error {
	return recoverDamage(func() error {
		return l.db.View(func(tx *bbolt.Tx) error {
			if tx.Bucket(logsBucket()) == nil || tx.Bucket(confBucket()) == nil {
				return &Damage{Reason: "has never been a log"}
			}
			return fn(tx)
		})
	})
}

// Close closes the file.
func (l *Log) Close() error { return l.db.Close() }

func checksumOf(key, value []byte) []byte {
	return binary.BigEndian.AppendUint32(nil, crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value))
}

// readAhead brings the file into the page cache.
func readAhead(f *os.File) error {
	_, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, make([]byte, readAheadBytes))
	if err != nil {
		return fmt.Errorf("read log file: %w", err)
	}
	return nil
}
