package raftstore

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"quorate/proto/peerpb"
	"quorate/raftstore/write"
)

// EndForwarding accepts no more writes of other nodes and ends their streams, for which a gRPC
// server that stops gracefully would wait. This node responds to the accepted writes before; the
// other nodes may send the remaining ones to another leader.
func (s *Store) EndForwarding() { s.forwarded.End() }

// rpc serves the peers (proto/peerpb Store).
type rpc struct {
	peerpb.UnimplementedStoreServer
	store *Store
}

// Writes proposes what a peer has encoded, with this node as leader.
func (p rpc) Writes(stream peerpb.Store_WritesServer) error { return p.store.forwarded.Serve(stream) }

// write proposes one of them.
func (p rpc) write(ctx context.Context, req *peerpb.WriteRequest) *peerpb.WriteResponse {
	if err := p.admit(req.GetClusterId()); err != nil {
		return write.NotApplied(err)
	}
	return p.store.writer.Serve(ctx, req)
}

// admit returns why this node refuses a peer's request: it is closing, or belongs to another
// cluster. A node that doesn't know its cluster's id yet sends none; the certificates have excluded
// strangers before.
func (p rpc) admit(clusterID string) error {
	if err := p.store.life.Check(); err != nil {
		return err
	}
	if own := p.store.ClusterID(); clusterID != "" && own != "" && clusterID != own {
		return errors.New("request of another cluster")
	}
	return nil
}

// ReadIndex confirms this node as leader for a peer's readers.
func (p rpc) ReadIndex(ctx context.Context, req *peerpb.ReadIndexRequest) (*peerpb.ReadIndexResponse, error) {
	if err := p.admit(req.GetClusterId()); err != nil {
		leader, _ := p.store.Leader()
		return &peerpb.ReadIndexResponse{Leader: leader, Message: err.Error()}, nil
	}
	return p.store.reader.Serve(ctx, req), nil
}

// Page sends a page of a state that this node retains.
func (p rpc) Page(req *peerpb.PageRequest, stream peerpb.Store_PageServer) error {
	if err := p.admit(req.GetClusterId()); err != nil {
		return status.Error(codes.FailedPrecondition, err.Error())
	}
	return p.store.pages.Serve(req, stream)
}

// Confirm returns this node's term. Raft writes a new term to disk before it enters it, and enters
// it before it votes.
func (p rpc) Confirm(_ context.Context, req *peerpb.ConfirmRequest) (*peerpb.ConfirmResponse, error) {
	if err := p.admit(req.GetClusterId()); err != nil {
		return nil, status.Error(codes.FailedPrecondition, err.Error())
	}
	return &peerpb.ConfirmResponse{Term: p.store.raft.CurrentTerm()}, nil
}
