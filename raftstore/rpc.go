package raftstore

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"quorate/proto/peerpb"
	"quorate/raftstore/forward"
	"quorate/raftstore/leadership"
	"quorate/raftstore/transport"
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

// ReadIndex confirms this node as leader for a peer's readers. The peer vouches with its own term.
func (p rpc) ReadIndex(ctx context.Context, req *peerpb.ReadIndexRequest) (*peerpb.ReadIndexResponse, error) {
	s := p.store
	leader, _ := s.Leader()
	e, _ := s.leaders.Current()
	if r := p.admit(req.GetClusterId()); r != nil {
		return &peerpb.ReadIndexResponse{Leader: leader, Message: r.err.Error()}, nil
	}
	if e == nil || req.GetTerm() > e.Term() {
		return &peerpb.ReadIndexResponse{NotLeader: true, Leader: leader}, nil
	}
	index, err := p.confirm(ctx, e)
	switch {
	case errors.Is(err, ErrNotLeader):
		return &peerpb.ReadIndexResponse{NotLeader: true, Leader: leader}, nil
	case err != nil:
		return &peerpb.ReadIndexResponse{Leader: leader, Message: err.Error()}, nil
	}
	return &peerpb.ReadIndexResponse{Index: index, Leader: leader, Term: s.leadership.TermOf(e, index)}, nil
}

// confirm counts the caller as one confirmation where that is enough, and joins the local readers otherwise.
func (p rpc) confirm(ctx context.Context, e *leadership.Epoch) (uint64, error) {
	others, voter := p.store.members.OtherVoters()
	if voter && len(others) <= 2 {
		caller, err := transport.PeerName(ctx)
		if err != nil {
			return 0, err
		}
		return p.store.indexOf(ctx, e, caller)
	}
	return p.store.local.Index(ctx)
}

// Confirm tells this node's term. Raft writes a new term to disk before it counts, and sets it before it votes.
func (p rpc) Confirm(_ context.Context, req *peerpb.ConfirmRequest) (*peerpb.ConfirmResponse, error) {
	if r := p.admit(req.GetClusterId()); r != nil {
		return nil, status.Error(codes.FailedPrecondition, r.err.Error())
	}
	return &peerpb.ConfirmResponse{Term: p.store.raft.CurrentTerm()}, nil
}
