package log

import (
	"encoding/binary"
	"fmt"

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
	err := s.update(func(tx *bbolt.Tx) error { return tx.Bucket(confBucket()).Put(key, value) })
	if err != nil {
		return fmt.Errorf("set %s in log %s: %w", key, s.cfg.Path, err)
	}
	return nil
}

// Get returns a value of Set, or ErrKeyNotFound.
func (s *Store) Get(key []byte) (value []byte, err error) {
	err = s.view(func(tx *bbolt.Tx) error {
		stored := tx.Bucket(confBucket()).Get(key)
		if stored == nil {
			return ErrKeyNotFound
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
