package transport_test

import (
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"quorate/raftstore/testcluster"
	"quorate/raftstore/transport"
)

// olderBuild is the stream layer of a node that offers only the library's protocol.
type olderBuild struct{ net.Listener }

func (olderBuild) Dial(raft.ServerAddress, time.Duration) (net.Conn, error) {
	return nil, errors.New("this node is a follower")
}

// A pipeline works with a follower of this build, in which case the library's transport is not
// involved, and with one whose build offers only the library's protocol.
func TestPipelineOfEachBuild(t *testing.T) {
	authority := testcluster.NewAuthority(t)
	identity := authority.Peer(t, "server")
	older := identity.Clone()
	older.NextProtos = []string{transport.ProtocolRaft}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", older)
	if err != nil {
		t.Fatal(err)
	}
	former := raft.NewNetworkTransport(olderBuild{listener}, 3, 10*time.Second, nil)
	server, _ := listen(t, identity, 0)
	present := server.Raft(nil, 10*time.Second, hclog.NewNullLogger())
	client, _ := listen(t, authority.Peer(t, "client"), 0)
	from := client.Raft(nil, 10*time.Second, hclog.NewNullLogger())

	for name, to := range map[string]raft.Transport{"present": present, "older": former} {
		t.Run(name, func(t *testing.T) {
			p, err := from.AppendEntriesPipeline("server", to.LocalAddr())
			if err != nil {
				t.Fatal(err)
			}
			var got []uint64
			var answering sync.WaitGroup
			answering.Go(func() {
				for range 3 {
					rpc := <-to.Consumer()
					got = append(got, rpc.Command.(*raft.AppendEntriesRequest).PrevLogEntry)
					rpc.Respond(&raft.AppendEntriesResponse{Success: true}, nil)
				}
			})
			for i := range uint64(3) {
				req := &raft.AppendEntriesRequest{RPCHeader: raft.RPCHeader{Addr: []byte("x")}, Term: 1, PrevLogEntry: i, Entries: []*raft.Log{{Index: i + 1, Term: 1}}}
				if _, err := p.AppendEntries(req, new(raft.AppendEntriesResponse)); err != nil {
					t.Fatal(err)
				}
				if f := <-p.Consumer(); f.Error() != nil || !f.Response().Success {
					t.Errorf("response %d: %+v, %v", i, f.Response(), f.Error())
				}
			}
			answering.Wait()
			if !slices.Equal(got, []uint64{0, 1, 2}) {
				t.Errorf("the follower got requests after %v", got)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	if err := errors.Join(from.Close(), present.Close(), former.Close()); err != nil {
		t.Error(err)
	}
	former.CloseStreams()
}
