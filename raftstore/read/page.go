package read

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
	"quorate/raftstore/failure"
	"quorate/raftstore/forward"
	"quorate/raftstore/state"
)

// pageChunkBytes is the approximate size of the messages of a page.
const pageChunkBytes = 256 << 10

// Page requests the objects of a collection in a retained state.
type Page struct {
	Index  uint64
	Prefix state.Prefix
	After  state.Key // only objects with greater keys; "" for all
	Limit  int       // of objects; 0 for none
}

// RemotePage is a page of another node's retained state.
type RemotePage struct {
	// Left is the number of objects that the collection has after Page.After, regardless of the
	// limit.
	Left int
	// Objects yields the objects in the order of their keys. It can be iterated once, before the
	// context of FetchRetained ends. If it can't read all objects, it ends with an error:
	// failure.ErrTimeout if that context has ended, failure.ErrUnavailable otherwise.
	Objects iter.Seq2[*state.Object, error]
}

// Pages fetches pages of retained states from other nodes, and serves them to other nodes. All
// methods are safe for concurrent use.
type Pages struct {
	reader   *Reader
	retained *Retained
}

// NewPages returns Pages that serve this node's retained states.
func NewPages(reader *Reader, retained *Retained) *Pages { return &Pages{reader, retained} }

// FetchRetained fetches a page of a retained state from another node, after this node has lost the
// state in a restart or to an installed snapshot. It returns failure.ErrNotRetained if most nodes
// are known not to retain the state, failure.ErrUnavailable if too few of them respond, and
// failure.ErrTimeout if ctx ends first.
func (p *Pages) FetchRetained(ctx context.Context, page Page) (*RemotePage, error) {
	cfg := &p.reader.cfg
	if err := cfg.Lifecycle.Check(); err != nil {
		return nil, err
	}
	first, cancel, err := p.fetchFirst(ctx, &peerpb.PageRequest{
		ClusterId: cfg.Members.ClusterID(), Index: page.Index, Prefix: string(page.Prefix), After: string(page.After),
		Limit: uint64(max(page.Limit, 0)),
	})
	if err != nil {
		return nil, err
	}
	return &RemotePage{Left: first.Left, Objects: func(yield func(*state.Object, error) bool) {
		defer cancel()
		for {
			objects, err := first.Next()
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				yield(nil, failureOf(ctx, err))
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

type pageResponse struct {
	peer int
	page *forward.Page
	err  error
}

// fetchFirst asks all other nodes at the same time, and returns the page of the first that retains
// the state. The caller must call cancel after it has read the page.
func (p *Pages) fetchFirst(ctx context.Context, req *peerpb.PageRequest) (page *forward.Page, cancel context.CancelFunc, err error) {
	responses, cancels := p.ask(ctx, req)
	cancelBut := func(winner int) {
		for i, cancel := range cancels {
			if i != winner {
				cancel()
			}
		}
	}
	slow := time.NewTimer(p.reader.cfg.LeaderWait)
	defer slow.Stop()
	var errs []error
	lacking := 0
	if req.GetIndex() <= p.reader.cfg.Applied.Index() && p.retained.Get(req.GetIndex()) == nil {
		lacking++ // this node lacks the state, unless it has not applied that index yet
	}
	for len(errs) < len(cancels) {
		select {
		case r := <-responses:
			if r.err == nil {
				cancelBut(r.peer)
				return r.page, cancels[r.peer], nil
			}
			if status.Code(r.err) == codes.NotFound {
				lacking++
			}
			errs = append(errs, r.err)
			continue
		case <-slow.C:
			errs = append(errs, errors.New("the other nodes did not respond in time"))
		case <-ctx.Done():
			cancelBut(-1)
			return nil, nil, fmt.Errorf("%w: %w", failure.ErrTimeout, ctx.Err())
		}
		break
	}
	cancelBut(-1)
	verdict := failure.ErrUnavailable
	if 2*lacking > len(cancels)+1 {
		verdict = failure.ErrNotRetained
	}
	return nil, nil, fmt.Errorf("%w: the state of index %d: %w", verdict, req.GetIndex(), errors.Join(errs...))
}

// ask asks all other nodes, each with a context that one of the returned functions cancels.
func (p *Pages) ask(ctx context.Context, req *peerpb.PageRequest) (<-chan pageResponse, []context.CancelFunc) {
	cfg := &p.reader.cfg
	peers := cfg.Members.Others()
	responses := make(chan pageResponse, len(peers))
	cancels := make([]context.CancelFunc, len(peers))
	for i, peer := range peers {
		asking, cancel := context.WithCancel(ctx)
		cancels[i] = cancel
		started := cfg.Lifecycle.Go(func() {
			page, err := cfg.Peers.Page(asking, string(peer.ID), cfg.Members.AddressOf(peer), req)
			responses <- pageResponse{i, page, err}
		})
		if !started {
			responses <- pageResponse{peer: i, err: failure.ErrClosed}
		}
	}
	return responses, cancels
}

// Serve sends a page of a state that this node retains. It returns a gRPC status: Unavailable if
// this node has not applied the state's index, NotFound if it does not retain the state.
func (p *Pages) Serve(req *peerpb.PageRequest, stream peerpb.Store_PageServer) error {
	reached := req.GetIndex() <= p.reader.cfg.Applied.Index() // before Get, because this node may apply the index in between
	root := p.retained.Get(req.GetIndex())
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
