package cluster

import (
	"errors"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"quorate/cluster/gossip"
	"quorate/proto/peerpb"
)

const (
	// callTimeout bounds one call of another node, scaled as Raft's timeouts are.
	callTimeout = 2 * time.Second
	// minCallTimeout leaves time for a handshake on a busy machine, whatever the scale.
	minCallTimeout = time.Second
	// maxRedialPause bounds the pause between two attempts to reach a member that was down. gRPC's
	// default of two minutes would report a restarted member as dead for as long.
	maxRedialPause = time.Second
)

// redial replaces gRPC's pauses between attempts to connect.
func redial() grpc.DialOption {
	pauses := backoff.DefaultConfig
	pauses.BaseDelay, pauses.MaxDelay = 100*time.Millisecond, maxRedialPause
	return grpc.WithConnectParams(grpc.ConnectParams{Backoff: pauses, MinConnectTimeout: callTimeout})
}

var errStopped = errors.New("this node is stopping")

// links are the connections to other nodes' peer addresses, dialled when they are first needed.
type links struct {
	connect func(name, peerAddr string, options ...grpc.DialOption) (*grpc.ClientConn, error)

	mu    sync.Mutex
	conns map[string]*grpc.ClientConn // guarded by mu; nil once closed
}

func newLinks(connect func(string, string, ...grpc.DialOption) (*grpc.ClientConn, error)) *links {
	return &links{connect: connect, conns: map[string]*grpc.ClientConn{}}
}

// membership returns a client of the Membership service at a peer address. Its responses name the
// node that is there.
func (l *links) membership(peerAddr string) (peerpb.MembershipClient, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conns == nil {
		return nil, errStopped
	}
	conn, ok := l.conns[peerAddr]
	if !ok {
		var err error
		if conn, err = l.connect("", peerAddr, redial()); err != nil {
			return nil, err
		}
		l.conns[peerAddr] = conn
	}
	return peerpb.NewMembershipClient(conn), nil
}

// keep closes the connections to addresses that no member uses.
func (l *links) keep(members []gossip.Member) {
	used := map[string]bool{}
	for _, m := range members {
		used[m.PeerAddr] = true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for addr, conn := range l.conns {
		if !used[addr] {
			conn.Close() // its only error is that it is closed already
			delete(l.conns, addr)
		}
	}
}

func (l *links) close() {
	l.keep(nil)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = nil
}
