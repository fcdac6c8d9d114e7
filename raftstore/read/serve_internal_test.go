package read

import (
	"testing"
	"time"

	"google.golang.org/grpc"

	"quorate/proto/peerpb"
	"quorate/raftstore/readindex"
	"quorate/raftstore/state"
)

// chunks is the stream to the peer that requested a page.
type chunks struct {
	grpc.ServerStreamingServer[peerpb.PageChunk]
	keys []string
}

func (c *chunks) Send(chunk *peerpb.PageChunk) error {
	for _, o := range chunk.GetObjects() {
		c.keys = append(c.keys, o.GetKey())
	}
	return nil
}

// A page for another node has all its objects, even if the last ones do not fill a message.
func TestPageIsSentToItsEnd(t *testing.T) {
	tree := state.NewTree()
	for _, name := range []string{"a", "b", "c"} {
		tree.Set(&state.Object{Key: state.NewKey("configmaps", "ns", name), Value: []byte("{}")})
	}
	tree.Advance(3)
	root := tree.Publish()
	retainer, err := state.NewRetainer(state.RetainerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	retainer.Retain(root, time.Now())
	applied := &readindex.Applied{}
	applied.Advance(root.Index())
	p := NewPages(&Reader{cfg: Config{Applied: applied}}, NewRetained(retainer))
	for limit, want := range []int{3, 1, 2, 3, 3} { // 0 is no limit
		got := &chunks{}
		err := p.Serve(&peerpb.PageRequest{
			Index: root.Index(), Prefix: string(state.ResourcePrefix("configmaps")), Limit: uint64(limit),
		}, got)
		if err != nil || len(got.keys) != want {
			t.Errorf("with limit %d: keys %q, error %v; want %d keys", limit, got.keys, err, want)
		}
	}
}
