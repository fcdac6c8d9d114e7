package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"quorate/cluster/bootstrap"
	"quorate/cluster/roster"
	"quorate/cluster/voters"
	"quorate/proto/peerpb"
	"quorate/raftstore"
)

// Register registers the Membership service. Call it before the server starts.
func (c *Cluster) Register(server grpc.ServiceRegistrar) {
	peerpb.RegisterMembershipServer(server, &service{c: c})
}

// service serves other nodes.
type service struct {
	peerpb.UnimplementedMembershipServer
	c *Cluster
}

func (s *service) Describe(context.Context, *peerpb.DescribeRequest) (*peerpb.DescribeResponse, error) {
	return s.c.describe(), nil
}

func (s *service) Promise(_ context.Context, r *peerpb.PromiseRequest) (*peerpb.PromiseResponse, error) {
	p := bootstrap.Attempt{ID: r.BootstrapId, Proposer: r.Proposer}
	for _, server := range r.Servers {
		p.Servers = append(p.Servers, bootstrap.Server{Name: server.Name, NodeID: server.NodeId, PeerAddr: server.PeerAddr})
	}
	response, err := s.c.record.Promise(p)
	if err != nil {
		return nil, statusOf(err)
	}
	if response.Promised {
		s.c.logger.Info("promised a bootstrap", "bootstrap", p.ID, "proposer", p.Proposer)
	}
	return &peerpb.PromiseResponse{
		Promised: response.Promised, Reason: response.Reason, NodeId: response.NodeID, Holder: response.Holder,
	}, nil
}

func (s *service) Leave(ctx context.Context, r *peerpb.LeaveRequest) (*peerpb.LeaveResponse, error) {
	if owner, known := s.c.cfg.Roster.Owner(r.Name); known && owner != r.NodeId {
		if errors.Is(s.c.cfg.Roster.Admit(r.Name, r.NodeId), roster.ErrRemoved) {
			return &peerpb.LeaveResponse{}, nil // it has left, and another node has its name since
		}
		return nil, status.Errorf(codes.PermissionDenied, "name %q belongs to node %s", r.Name, owner)
	}
	// Nodes call it on the leader only, so there is nothing to forward.
	return &peerpb.LeaveResponse{}, statusOf(s.c.voters.Leave(ctx, r.Name, r.NodeId))
}

func (s *service) Remove(ctx context.Context, r *peerpb.RemoveRequest) (*peerpb.RemoveResponse, error) {
	return &peerpb.RemoveResponse{}, statusOf(s.c.removeHere(ctx, r.Name))
}

func (s *service) TransferLeader(ctx context.Context, r *peerpb.TransferLeaderRequest) (*peerpb.TransferLeaderResponse, error) {
	leader, err := s.c.transferHere(ctx, r.Name)
	return &peerpb.TransferLeaderResponse{Leader: leader}, statusOf(err)
}

func (s *service) Snapshot(context.Context, *peerpb.SnapshotRequest) (*peerpb.SnapshotResponse, error) {
	id, index, err := s.c.cfg.Store.Snapshot()
	return &peerpb.SnapshotResponse{Id: id, Index: index}, statusOf(err)
}

// statusOf and errorOf translate the conditions that callers branch on to gRPC codes and back.
func statusOf(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, voters.ErrNotLeader), errors.Is(err, raftstore.ErrUnavailable): // nothing was changed
		return status.Error(codes.Unavailable, err.Error())
	case errors.Is(err, voters.ErrUnknownMember):
		return status.Error(codes.NotFound, err.Error())
	case errors.Is(err, voters.ErrLastVoter):
		return status.Error(codes.FailedPrecondition, err.Error())
	case errors.Is(err, voters.ErrNoQuorum):
		return status.Error(codes.Aborted, err.Error())
	}
	return status.Error(codes.Internal, err.Error())
}

func errorOf(err error) error {
	s, ok := status.FromError(err)
	if err == nil || !ok {
		return err
	}
	switch s.Code() {
	case codes.Unavailable:
		return fmt.Errorf("%w: %s", ErrUnavailable, s.Message())
	case codes.NotFound:
		return fmt.Errorf("%w: %s", voters.ErrUnknownMember, s.Message())
	case codes.FailedPrecondition:
		return fmt.Errorf("%w: %s", voters.ErrLastVoter, s.Message())
	case codes.Aborted:
		return fmt.Errorf("%w%s", voters.ErrNoQuorum, strings.TrimPrefix(s.Message(), voters.ErrNoQuorum.Error()))
	}
	return errors.New(s.Message())
}
