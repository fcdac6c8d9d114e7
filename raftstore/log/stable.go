package log

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"go.etcd.io/bbolt"
)

// The keys under which Raft stores what it must not forget. The library does not export them; a test compares.
const (
	CurrentTerm  = "CurrentTerm"
	LastVoteTerm = "LastVoteTerm"
	LastVoteCand = "LastVoteCand"
)

// Set stores Raft's own state (term, vote), synced when it returns.
func (s *Store) Set(key, value []byte) error {
	defer s.watch.begin("set").end()
	s.writing.Lock()
	defer s.writing.Unlock()
	// gofail: var termBeforeSync struct{}
	err := s.update(func(tx *bbolt.Tx) error {
		conf := tx.Bucket(confBucket())
		return errors.Join(conf.Put(key, value), conf.Put(sealKey(key), sealOf(key, value)))
	})
	// gofail: var termAfterSync struct{}
	if err != nil {
		return fmt.Errorf("set %s in log %s: %w", key, s.cfg.Path, err)
	}
	return nil
}

// sealKey is where the checksum of a key's value is. A node that votes by a term or vote which its disk has changed may vote twice in one
// term. Values without one are of another's making.
func sealKey(key []byte) []byte { return append([]byte("crc32c/"), key...) }

func sealOf(key, value []byte) []byte {
	return binary.BigEndian.AppendUint32(nil, crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value))
}

// Get returns a value of Set, ErrKeyNotFound, or a *Corrupt where the disk has changed it.
func (s *Store) Get(key []byte) (value []byte, err error) {
	err = s.view(func(tx *bbolt.Tx) error {
		stored, seal := tx.Bucket(confBucket()).Get(key), tx.Bucket(confBucket()).Get(sealKey(key))
		if stored == nil && seal == nil {
			return ErrKeyNotFound
		}
		if seal != nil && (stored == nil || !bytes.Equal(seal, sealOf(key, stored))) {
			return s.counted(&Corrupt{Path: s.cfg.Path, Reason: fmt.Sprintf("the stored %s is not what was stored", key)})
		}
		value = append([]byte{}, stored...)
		return nil
	})
	return value, err
}

// SetUint64 is Set for a number.
func (s *Store) SetUint64(key []byte, value uint64) error {
	return s.Set(key, binary.BigEndian.AppendUint64(nil, value))
}

// GetUint64 is Get for a number.
func (s *Store) GetUint64(key []byte) (uint64, error) {
	value, err := s.Get(key)
	if err != nil {
		return 0, err
	}
	if len(value) != 8 {
		return 0, s.counted(&Corrupt{Path: s.cfg.Path, Reason: fmt.Sprintf("the stored %s is not a number", key)})
	}
	return binary.BigEndian.Uint64(value), nil
}
