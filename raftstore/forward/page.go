package forward

import (
	"context"
	"fmt"

	"google.golang.org/grpc"

	"quorate/proto/peerpb"
	"quorate/raftstore/state"
)

// Page is a stream of objects from a peer. It ends with the context of the request.
type Page struct {
	// Left is the number of objects of the collection after the requested key, including those of
	// the page.
	Left int

	peer   string
	stream grpc.ServerStreamingClient[peerpb.PageChunk]
}

// Page requests one page of the objects of a retained state from the peer with this name and
// address. It returns once the peer has responded; the returned Page reads the objects as the peer
// sends them. To stop early, cancel ctx. The error's gRPC code is NotFound if the peer does not
// retain the state. Page waits for an unreachable peer until ctx is done: the peer may be
// restarting, and may be the only one that retains the state.
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

// EncodeObject returns a message of an object, which shares its memory.
func EncodeObject(o *state.Object) *peerpb.PageObject {
	return &peerpb.PageObject{
		Key: string(o.Key), Value: o.Value, VersionOffset: o.VersionOffset, Version: o.Version, Created: o.Created,
		Uid: o.UID, Labels: string(o.Labels), Fields: string(o.Fields), Sealed: o.Sealed,
	}
}

// DecodeObject returns the object of a message.
func DecodeObject(m *peerpb.PageObject) *state.Object {
	return &state.Object{
		Key: state.Key(m.GetKey()), Value: m.GetValue(), VersionOffset: m.GetVersionOffset(), Version: m.GetVersion(),
		Created: m.GetCreated(), UID: m.GetUid(), Labels: state.Attributes(m.GetLabels()), Fields: state.Attributes(m.GetFields()),
		Sealed: m.GetSealed(),
	}
}
