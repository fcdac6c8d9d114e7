package transport_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"quorate/raftstore/testcluster"
	"quorate/raftstore/transport"
)

// slowLog takes a while for the line that the library logs when a connection breaks, so that a
// Close that does not wait for it returns before.
type slowLog struct{ lines atomic.Int32 }

func (l *slowLog) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "failed to decode incoming command") {
		time.Sleep(50 * time.Millisecond)
		l.lines.Add(1)
	}
	return len(p), nil
}

// TestCloseWaitsForServedConnections closes a transport while it serves a peer: nothing is logged
// after Close has returned.
func TestCloseWaitsForServedConnections(t *testing.T) {
	authority := testcluster.NewAuthority(t)
	server, _ := listen(t, authority.Peer(t, "server"), 0)
	client, _ := listen(t, authority.Peer(t, "client"), 0)
	log := &slowLog{}
	to := server.Raft(nil, time.Second, hclog.New(&hclog.LoggerOptions{Output: log, Level: hclog.Debug}))
	const peers = 3
	for range peers {
		c, err := client.Dial(t.Context(), "server", server.Addr().String(), transport.ProtocolRaft)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write([]byte{0}); err != nil { // half a command
			t.Fatal(err)
		}
	}
	testcluster.Eventually(t, "the library serves each connection", func() bool { return transport.Served(to) == peers })
	for range 2 { // the library closes the transport, and so does who opened it
		if err := to.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := log.lines.Load(); got != peers {
		t.Errorf("%d of %d connections had logged their end when Close returned", got, peers)
	}
	if got := transport.Served(to); got != 0 {
		t.Errorf("%d connections are still served", got)
	}
}
