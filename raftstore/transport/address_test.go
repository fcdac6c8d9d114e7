package transport_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"quorate/proto/peerpb"
	"quorate/raftstore/testcluster"
	"quorate/raftstore/transport"
)

// Nodes that restart may have swapped addresses. If n3 answered a request to n1 for a vote, a
// confirmation or an append, a quorum would be fewer nodes than it should be.
func TestPeerAddressOfAnotherNode(t *testing.T) {
	authority := testcluster.NewAuthority(t)
	other, _ := listen(t, authority.Peer(t, "n3"), 0)
	self, _ := listen(t, authority.Peer(t, "n2"), 0)
	at := other.Addr().String()

	t.Run("Raft", func(t *testing.T) {
		to := other.Raft(nil, time.Second, hclog.NewNullLogger())
		defer to.Close()
		from := self.Raft(nil, time.Second, hclog.NewNullLogger())
		defer from.Close()
		address, header := raft.ServerAddress(at), raft.RPCHeader{Addr: []byte("x")}
		for what, err := range map[string]error{
			"entries":  from.AppendEntries("n1", address, &raft.AppendEntriesRequest{RPCHeader: header}, &raft.AppendEntriesResponse{}),
			"vote":     from.RequestVote("n1", address, &raft.RequestVoteRequest{RPCHeader: header}, &raft.RequestVoteResponse{}),
			"pre-vote": from.RequestPreVote("n1", address, &raft.RequestPreVoteRequest{RPCHeader: header}, &raft.RequestPreVoteResponse{}),
			"leave":    from.TimeoutNow("n1", address, &raft.TimeoutNowRequest{RPCHeader: header}, &raft.TimeoutNowResponse{}),
		} {
			if err == nil || !strings.Contains(err.Error(), `it is node "n3", not "n1"`) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if _, err := from.AppendEntriesPipeline("n1", address); err == nil {
			t.Error("a pipeline of entries to another node was opened")
		}
	})
	t.Run("gRPC", func(t *testing.T) {
		s := grpc.NewServer(transport.ServerOptions()...) // without services
		var serving sync.WaitGroup
		serving.Go(func() { _ = s.Serve(other.GRPC()) })
		defer serving.Wait()
		defer s.Stop()
		for name, want := range map[string]codes.Code{"n1": codes.Unavailable, "n3": codes.Unimplemented} {
			conn, err := self.Connect(name, at)
			if err != nil {
				t.Fatal(err)
			}
			_, err = peerpb.NewStoreClient(conn).Confirm(t.Context(), &peerpb.ConfirmRequest{})
			if status.Code(err) != want {
				t.Errorf("%s: %v", name, err)
			}
			if err := conn.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}
