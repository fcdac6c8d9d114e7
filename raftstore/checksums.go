package raftstore

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"quorate/proto/peerpb"
	"quorate/raftstore/checksum"
)

// DefaultChecksumInterval is the default of Config.ChecksumInterval.
const DefaultChecksumInterval = checksum.DefaultInterval

// Checksum is the checksum of one node's state.
type Checksum = checksum.Checksum

// Comparison has the checksums of all nodes' states after one log entry, sorted by name.
type Comparison = checksum.Comparison

// CompareChecksums pins a state, has every node compute the checksum of its own copy, and returns
// the checksums. Any node can call it. A node that does not respond is part of the result. If the
// state can't be pinned, CompareChecksums returns the error of Pin, and ErrClosed if the store is
// closing.
func (s *Store) CompareChecksums(ctx context.Context) (*Comparison, error) {
	return s.checksums.Compare(ctx)
}

// Checksum returns the checksum of a state that this node retains, once this node has applied its
// index.
func (p rpc) Checksum(ctx context.Context, req *peerpb.ChecksumRequest) (*peerpb.ChecksumResponse, error) {
	if err := p.admit(req.GetClusterId()); err != nil {
		return nil, status.Error(codes.FailedPrecondition, err.Error())
	}
	return p.store.checksums.Serve(ctx, req.GetIndex())
}
