package raftstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"quorate/proto/peerpb"
	"quorate/raftstore/forward"
	"quorate/raftstore/state"
)

// pageChunkBytes is how much of a page is sent in one message, give or take an object.
const pageChunkBytes = 256 << 10

// Page asks for the objects of a collection in a state that is kept.
type Page struct {
	Index  uint64
	Prefix state.Prefix
	After  state.Key // only objects with greater keys; "" for all
	Limit  int       // of objects; 0 for none
}

// Found is a page of another node's.
type Found struct {
	// Left is how many objects the collection has after Page.After, whatever the limit.
	Left int
	// Objects come in the order of their keys. They can be ranged over once, before the context of Elsewhere ends. An error
	// ends them: ErrUnavailable, or ErrTimeout when the context did.
	Objects iter.Seq2[*state.Object, error]
}

// Elsewhere finds another node that still holds a state which this one has lost, by a restart or because a snapshot was installed. The
// error is ErrNotRetained when most nodes are known not to have it, and ErrUnavailable while too few of them can be asked.
func (s *Store) Elsewhere(ctx context.Context, p Page) (*Found, error) {
	if err := s.life.Check(); err != nil {
		return nil, err
	}
	page, cancel, err := s.firstToHold(ctx, &peerpb.PageRequest{
		ClusterId: s.ClusterID(), Index: p.Index, Prefix: string(p.Prefix), After: string(p.After), Limit: uint64(max(p.Limit, 0)),
	})
	if err != nil {
		return nil, err
	}
	return &Found{Left: page.Left, Objects: func(yield func(*state.Object, error) bool) {
		defer cancel()
		for {
			objects, err := page.Next()
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				yield(nil, readFailure(ctx, err))
				return
			}
			for _, o := range objects {
				if !yield(forward.DecodeObject(o), nil) {
					return
				}
			}
		}
	}}, nil
}

type pageAnswer struct {
	peer int
	page *forward.Page
	err  error
}

// firstToHold asks all other nodes at the same time and takes the first that has the state. Cancel ends its page.
func (s *Store) firstToHold(ctx context.Context, req *peerpb.PageRequest) (*forward.Page, context.CancelFunc, error) {
	peers := s.members.Others()
	answers := make(chan pageAnswer, len(peers))
	cancels := make([]context.CancelFunc, len(peers))
	for i, peer := range peers {
		asking, cancel := context.WithCancel(ctx)
		cancels[i] = cancel
		entered := s.life.Go(func() {
			page, err := s.peers.Page(asking, string(peer.ID), s.members.AddressOf(peer), req)
			answers <- pageAnswer{i, page, err}
		})
		if !entered {
			answers <- pageAnswer{peer: i, err: ErrClosed}
		}
	}
	cancelBut := func(winner int) {
		for i, cancel := range cancels {
			if i != winner {
				cancel()
			}
		}
	}
	slow := time.NewTimer(s.patience())
	defer slow.Stop()
	var errs []error
	lacking := 0
	if req.GetIndex() <= s.applied.Index() && s.Retained(req.GetIndex()) == nil {
		lacking++ // this node, unless it is still to come to that state
	}
	for len(errs) < len(peers) {
		select {
		case a := <-answers:
			if a.err == nil {
				cancelBut(a.peer)
				return a.page, cancels[a.peer], nil
			}
			if status.Code(a.err) == codes.NotFound {
				lacking++
			}
			errs = append(errs, a.err)
			continue
		case <-slow.C:
			errs = append(errs, errors.New("the others did not answer in time"))
		case <-ctx.Done():
			cancelBut(-1)
			return nil, nil, fmt.Errorf("%w: %w", ErrTimeout, ctx.Err())
		}
		break
	}
	cancelBut(-1)
	verdict := ErrUnavailable
	if 2*lacking > len(peers)+1 {
		verdict = ErrNotRetained
	}
	return nil, nil, fmt.Errorf("%w: the state of index %d: %w", verdict, req.GetIndex(), errors.Join(errs...))
}

// Page serves a page of a state that this node keeps.
func (p rpc) Page(req *peerpb.PageRequest, stream peerpb.Store_PageServer) error {
	if r := p.admit(req.GetClusterId()); r != nil {
		return status.Error(codes.FailedPrecondition, r.err.Error())
	}
	reached := req.GetIndex() <= p.store.applied.Index() // asked first: it may come to it meanwhile
	root := p.store.Retained(req.GetIndex())
	switch {
	case root == nil && !reached:
		return status.Error(codes.Unavailable, "this node has not come to that state yet")
	case root == nil:
		return status.Error(codes.NotFound, "that state is not kept here")
	}
	prefix, after := state.Prefix(req.GetPrefix()), state.Key(req.GetAfter())
	err := stream.Send(&peerpb.PageChunk{Left: uint64(root.CountAfter(prefix, after))})
	chunk, size, sent := &peerpb.PageChunk{}, 0, uint64(0)
	flush := func() {
		if err == nil && len(chunk.GetObjects()) > 0 {
			err = stream.Send(chunk)
		}
		chunk, size = &peerpb.PageChunk{}, 0
	}
	root.Ascend(prefix, after, func(o *state.Object) bool {
		chunk.Objects = append(chunk.Objects, forward.EncodeObject(o))
		if size += o.Size(); size >= pageChunkBytes {
			flush()
		}
		sent++
		return err == nil && sent != req.GetLimit()
	})
	flush()
	return err
}
