package log

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"go.etcd.io/bbolt"
)

// The keys of Raft's stable values. The library does not export them; a test compares them.
const (
	CurrentTerm  = "CurrentTerm"
	LastVoteTerm = "LastVoteTerm"
	LastVoteCand = "LastVoteCand"
)

// pair is a key of the stable store and its value.
type pair struct{ key, value []byte }

// Set stores a stable value of Raft and syncs it. If the value is the candidate of a vote, Set
// stores the term of the vote in the same transaction: SetUint64 has only kept that term in memory.
// The library stores term and candidate one after the other. After a crash in between, the
// candidate of an earlier vote would count as that of the new term, and would get the vote without
// a comparison of logs. A candidate without a term is an error.
func (s *Store) Set(key, value []byte) error {
	defer s.watch.begin("set").end()
	s.writing.Lock()
	defer s.writing.Unlock()
	if string(key) != LastVoteCand {
		return s.putStable(pair{key, value})
	}
	if s.voteTerm == nil {
		return errVoteWithoutTerm
	}
	err := s.putStable(pair{[]byte(LastVoteTerm), s.voteTerm}, pair{key, value})
	if err == nil {
		s.voteTerm = nil // young after an error, so that a retry stores both
	}
	return err
}

// errVoteWithoutTerm reports that the library stores a vote in an order that this store does not
// expect.
var errVoteWithoutTerm = errors.New("store vote: the candidate arrived without its term; this build does not fit the Raft library")

// putStable stores values in one transaction. The caller holds writing.
func (s *Store) putStable(pairs ...pair) error {
	// gofail: var termBeforeSync struct{}
	err := s.update(func(tx *bbolt.Tx) error {
		conf := tx.Bucket(confBucket())
		var errs []error
		for _, p := range pairs {
			errs = append(errs, conf.Put(p.key, p.value), conf.Put(checksumKey(p.key), checksumOf(p.key, p.value)))
		}
		return errors.Join(errs...)
	})
	// gofail: var termAfterSync struct{}
	if err != nil {
		return fmt.Errorf("set %s in log %s: %w", pairs[0].key, s.cfg.Path, err)
	}
	return nil
}

// checksumKey returns the key under which the checksum of a value is stored. Without a checksum, a
// node whose disk has changed its term or vote might vote twice in one term. Values that other
// programs stored have no checksum.
func checksumKey(key []byte) []byte { return append([]byte("crc32c/"), key...) }

func checksumOf(key, value []byte) []byte {
	return binary.BigEndian.AppendUint32(nil, crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value))
}

// Get returns a value stored by Set, ErrKeyNotFound, or a *Corrupt if the value does not match its
// checksum.
func (s *Store) Get(key []byte) (value []byte, err error) {
	err = s.view(func(tx *bbolt.Tx) error {
		stored, seal := tx.Bucket(confBucket()).Get(key), tx.Bucket(confBucket()).Get(checksumKey(key))
		if stored == nil && seal == nil {
			return ErrKeyNotFound
		}
		if seal != nil && (stored == nil || !bytes.Equal(seal, checksumOf(key, stored))) {
			return s.counted(&Corrupt{Path: s.cfg.Path, Reason: fmt.Sprintf("the checksum of the stored %s does not match", key)})
		}
		value = append([]byte{}, stored...)
		return nil
	})
	return value, err
}

// SetUint64 is Set for a number. It keeps the term of a vote in memory until Set stores it with the
// vote's candidate. Until then GetUint64 returns the term of the previous vote.
func (s *Store) SetUint64(key []byte, value uint64) error {
	encoded := binary.BigEndian.AppendUint64(nil, value)
	if string(key) != LastVoteTerm {
		return s.Set(key, encoded)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	s.voteTerm = encoded
	return nil
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
