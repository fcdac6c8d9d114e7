package raftstore

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"quorate/proto/peerpb"
	"quorate/raftstore/forward"
)

// EndForwarding takes up no more writes of other nodes and ends their streams, for which a gRPC server that stops gracefully would
// wait. What is under way is answered before; what is not taken up, the others know they may give to another leader.
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
	if r := p.admit(req.GetClusterId()); r != nil {
		return p.respond(*r)
	}
	c, err := decode(req.GetEntry())
	if err != nil {
		return p.respond(notApplied(err))
	}
	c.frees, c.client = req.GetFrees(), req.GetClient()
	e, _ := p.store.leaders.Current()
	r := p.store.propose(ctx, c)
	// gofail: var forwardApplied struct{}
	resp := p.respond(r)
	resp.Term = p.store.leadership.TermOf(e, r.index)
	return resp
}

func (p rpc) respond(r result) *peerpb.WriteResponse {
	leader := ""
	if r.outcome == peerpb.Outcome_NOT_LEADER {
		leader, _ = p.store.Leader()
	}
	resp := r.respond(leader)
	if r.outcome == peerpb.Outcome_REFUSED {
		resp.Refusal = forward.Encode(r.err)
	}
	return resp
}

// admit refuses on behalf of a node that is closing or belongs to another cluster. A node that doesn't know its cluster's id
// yet sends none; the certificates have sorted out strangers before.
func (p rpc) admit(clusterID string) *result {
	if err := p.store.life.Check(); err != nil {
		r := notApplied(err)
		return &r
	}
	if own := p.store.ClusterID(); clusterID != "" && own != "" && clusterID != own {
		r := notApplied(errors.New("request of another cluster"))
		return &r
	}
	return nil
}

// ReadIndex confirms this node as leader for a peer's readers.
func (p rpc) ReadIndex(ctx context.Context, req *peerpb.ReadIndexRequest) (*peerpb.ReadIndexResponse, error) {
	if r := p.admit(req.GetClusterId()); r != nil {
		leader, _ := p.store.Leader()
		return &peerpb.ReadIndexResponse{Leader: leader, Message: r.err.Error()}, nil
	}
	return p.store.reader.Serve(ctx, req), nil
}

// Page sends a page of a state that this node retains.
func (p rpc) Page(req *peerpb.PageRequest, stream peerpb.Store_PageServer) error {
	if r := p.admit(req.GetClusterId()); r != nil {
		return status.Error(codes.FailedPrecondition, r.err.Error())
	}
	return p.store.pages.Serve(req, stream)
}

// Confirm returns this node's term. Raft writes a new term to disk before it enters it, and enters it
// before it votes.
func (p rpc) Confirm(_ context.Context, req *peerpb.ConfirmRequest) (*peerpb.ConfirmResponse, error) {
	if r := p.admit(req.GetClusterId()); r != nil {
		return nil, status.Error(codes.FailedPrecondition, r.err.Error())
	}
	return &peerpb.ConfirmResponse{Term: p.store.raft.CurrentTerm()}, nil
}
