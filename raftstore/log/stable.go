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

// pair is a key of the stable store and its value.
type pair struct{ key, value []byte }

// Set stores Raft's own state (term, vote), synced when it returns. A vote's candidate is stored in one transaction with the
// term of that vote, which SetUint64 holds back for it. The library stores them one after the other: after a crash in between,
// the candidate of an earlier term would pass for that of the new one, and have the vote without a look at its log.
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
		s.voteTerm = nil // kept otherwise: whoever has to store the vote may try again
	}
	return err
}

// errVoteWithoutTerm reports a library that stores votes in another order than the one this is made for.
var errVoteWithoutTerm = errors.New("a vote's candidate comes without its term: this build does not fit the Raft library")

// putStable stores values in one transaction, under writing.
func (s *Store) putStable(pairs ...pair) error {
	// gofail: var termBeforeSync struct{}
	err := s.update(func(tx *bbolt.Tx) error {
		conf := tx.Bucket(confBucket())
		var errs []error
		for _, p := range pairs {
			errs = append(errs, conf.Put(p.key, p.value), conf.Put(sealKey(p.key), sealOf(p.key, p.value)))
		}
		return errors.Join(errs...)
	})
	// gofail: var termAfterSync struct{}
	if err != nil {
		return fmt.Errorf("set %s in log %s: %w", pairs[0].key, s.cfg.Path, err)
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

// SetUint64 is Set for a number. The term of a vote is only noted, and stored with the vote's candidate: until then
// GetUint64 returns that of the vote before.
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
