package forward

import (
	"context"
	"fmt"

	"google.golang.org/grpc"

	"quorate/proto/peerpb"
	"quorate/raftstore/state"
)

// Page is objects on their way from a peer. It is good until the context that it was asked for with ends.
type Page struct {
	// Left is how many objects the collection has after the key asked for, those of the page included.
	Left int

	peer   string
	stream grpc.ServerStreamingClient[peerpb.PageChunk]
}

// Page asks a peer for objects of a state that it still holds; the error's gRPC code is NotFound when it doesn't. To give up
// a page before its end, the context must be cancelled. A peer that is away is waited for: it may just have come back, and be the only
// one that holds the state.
func (c *Client) Page(ctx context.Context, name, address string, req *peerpb.PageRequest) (*Page, error) {
	store, err := c.store(name, address)
	if err != nil {
		return nil, err
	}
	stream, err := store.Page(ctx, req, grpc.WaitForReady(true))
	if err != nil {
		return nil, fmt.Errorf("ask %s for a page: %w", name, err)
	}
	first, err := stream.Recv()
	if err != nil {
		return nil, fmt.Errorf("ask %s for a page: %w", name, err)
	}
	return &Page{Left: int(first.GetLeft()), peer: name, stream: stream}, nil
}

// Next returns the next objects, and io.EOF after the last.
func (p *Page) Next() ([]*peerpb.PageObject, error) {
	chunk, err := p.stream.Recv()
	if err != nil {
		return nil, fmt.Errorf("read a page from %s: %w", p.peer, err)
	}
	return chunk.GetObjects(), nil
}

// EncodeObject puts an object in a message, which shares its memory.
func EncodeObject(o *state.Object) *peerpb.PageObject {
	return &peerpb.PageObject{
		Key: string(o.Key), Value: o.Value, VersionOffset: o.VersionOffset, Version: o.Version, Created: o.Created,
		Uid: o.UID, Labels: string(o.Labels), Fields: string(o.Fields), Sealed: o.Sealed,
	}
}

// DecodeObject makes the object of a message again.
func DecodeObject(m *peerpb.PageObject) *state.Object {
	return &state.Object{
		Key: state.Key(m.GetKey()), Value: m.GetValue(), VersionOffset: m.GetVersionOffset(), Version: m.GetVersion(),
		Created: m.GetCreated(), UID: m.GetUid(), Labels: state.Attributes(m.GetLabels()), Fields: state.Attributes(m.GetFields()),
		Sealed: m.GetSealed(),
	}
}
