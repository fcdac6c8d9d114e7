package raftstore

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"quorate/proto/peerpb"
	"quorate/raftstore/checksum"
)

// DefaultChecksumInterval is how often the leader compares the states of all nodes.
const DefaultChecksumInterval = checksum.DefaultInterval

// Checksum is the checksum of one node's state.
type Checksum = checksum.Checksum

// Comparison compares the states of all nodes after one log entry, by name.
type Comparison = checksum.Comparison

// CompareChecksums pins a state, has every node sum up its own copy in the background, and compares
// the checksums. Any node may be asked. Errors are Pin's; a node that does not respond is part of
// the result.
func (s *Store) CompareChecksums(ctx context.Context) (*Comparison, error) {
	return s.checksums.Compare(ctx)
}

// Checksum sums up a state that this node retains, once this node has applied its index.
func (p rpc) Checksum(ctx context.Context, req *peerpb.ChecksumRequest) (*peerpb.ChecksumResponse, error) {
	if err := p.admit(req.GetClusterId()); err != nil {
		return nil, status.Error(codes.FailedPrecondition, err.Error())
	}
	return p.store.checksums.Serve(ctx, req.GetIndex())
}
