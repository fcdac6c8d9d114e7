package raftstore

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"quorate/proto/peerpb"
	"quorate/raftstore/transport"
	"quorate/raftstore/write"
)

// EndStreams makes this node refuse further writes that other nodes forward to it, and ends the
// transfer of a snapshot to it. It does not wait. Each stream of writes ends once the node has
// responded to those that it accepted; the sender may send the others to another leader. Call
// EndStreams before GracefulStop of the gRPC server, which waits for the streams to end.
func (s *Store) EndStreams() {
	s.forwarded.End()
	s.receiver.End()
}

// rpc serves the peers (proto/peerpb Store).
type rpc struct {
	peerpb.UnimplementedStoreServer
	store *Store
}

// caller returns the name of the peer that made a request.
func caller(ctx context.Context) (string, error) {
	name, err := transport.PeerName(ctx)
	if err != nil {
		return "", status.Error(codes.PermissionDenied, err.Error())
	}
	return name, nil
}

// Writes serves a stream of writes that a peer has encoded, with this node as leader.
func (p rpc) Writes(stream peerpb.Store_WritesServer) error {
	from, err := caller(stream.Context())
	if err != nil {
		return err
	}
	return p.store.forwarded.Serve(hurrying{stream, func() { p.store.transport.Hurry(from) }})
}

// hurrying is a stream of writes of a peer, which waits for them to arrive in its log.
type hurrying struct {
	peerpb.Store_WritesServer
	hurry func()
}

func (h hurrying) Recv() (*peerpb.WriteBatch, error) {
	batch, err := h.Store_WritesServer.Recv()
	h.hurry()
	return batch, err
}

// write decides one of these writes.
func (p rpc) write(ctx context.Context, req *peerpb.WriteRequest) *peerpb.WriteResponse {
	if err := p.admit(req.GetClusterId()); err != nil {
		return write.NotApplied(err)
	}
	return p.store.writer.Serve(ctx, req)
}

// admit returns an error if this node is closing or the request is from another cluster. It
// compares the ids only if both nodes know theirs, which a new node does not yet. The peer's
// certificate has already proved that it belongs to the cluster.
func (p rpc) admit(clusterID string) error {
	if err := p.store.life.Check(); err != nil {
		return err
	}
	if own := p.store.ClusterID(); clusterID != "" && own != "" && clusterID != own {
		return errors.New("request of another cluster")
	}
	return nil
}

// ReadIndex confirms for a peer's readers that this node leads.
func (p rpc) ReadIndex(ctx context.Context, req *peerpb.ReadIndexRequest) (*peerpb.ReadIndexResponse, error) {
	if err := p.admit(req.GetClusterId()); err != nil {
		leader, _ := p.store.Leader()
		return &peerpb.ReadIndexResponse{Leader: leader, Message: err.Error()}, nil
	}
	from, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	p.store.transport.Hurry(from)
	return p.store.reader.Serve(ctx, req), nil
}

// Page sends a page of a state that this node retains.
func (p rpc) Page(req *peerpb.PageRequest, stream peerpb.Store_PageServer) error {
	if err := p.admit(req.GetClusterId()); err != nil {
		return status.Error(codes.FailedPrecondition, err.Error())
	}
	return p.store.pages.Serve(req, stream)
}

// SendSnapshot receives the content of a snapshot from the leader.
func (p rpc) SendSnapshot(stream peerpb.Store_SendSnapshotServer) error {
	from, err := caller(stream.Context())
	if err != nil {
		return err
	}
	return p.store.receiver.Serve(from, stream)
}

// Confirm returns this node's term. Raft writes a new term to disk before it enters the term, and
// enters it before it grants a vote.
func (p rpc) Confirm(_ context.Context, req *peerpb.ConfirmRequest) (*peerpb.ConfirmResponse, error) {
	if err := p.admit(req.GetClusterId()); err != nil {
		return nil, status.Error(codes.FailedPrecondition, err.Error())
	}
	return &peerpb.ConfirmResponse{Term: p.store.raft.CurrentTerm()}, nil
}
