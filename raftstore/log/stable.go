package log

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The keys of Raft's stable values. The library does not export them; a test compares them.
const (
	CurrentTerm  = "CurrentTerm"
	LastVoteTerm = "LastVoteTerm"
	LastVoteCand = "LastVoteCand"
)

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
		return s.putStable(map[string][]byte{string(key): value})
	}
	if s.voteTerm == nil {
		return errVoteWithoutTerm
	}
	err := s.putStable(map[string][]byte{LastVoteTerm: s.voteTerm, LastVoteCand: value})
	if err == nil {
		s.voteTerm = nil // young after an error, so that a retry stores both
	}
	return err
}

// errVoteWithoutTerm reports that the library stores a vote in an order that this store does not
// expect.
var errVoteWithoutTerm = errors.New("store vote: the candidate arrived without its term; this build does not fit the Raft library")

// putStable stores values together. The caller holds writing.
func (s *Store) putStable(values map[string][]byte) error {
	err := s.writable()
	// gofail: var termBeforeSync struct{}
	if err == nil {
		err = s.failed(s.stable.Set(values))
	}
	// gofail: var termAfterSync struct{}
	if err != nil {
		return fmt.Errorf("store term or vote in log %s: %w", s.cfg.Dir, err)
	}
	return nil
}

// Get returns a value stored by Set, or ErrKeyNotFound.
func (s *Store) Get(key []byte) ([]byte, error) {
	if s.closed.Load() {
		return nil, ErrClosed
	}
	if value := s.stable.Get(string(key)); value != nil {
		return value, nil
	}
	return nil, ErrKeyNotFound
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
		return 0, s.counted(&Corrupt{Path: s.cfg.Dir, Reason: fmt.Sprintf("the stored %s is not a number", key)})
	}
	return binary.BigEndian.Uint64(value), nil
}
