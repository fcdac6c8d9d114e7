package raftstore_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/url"
	"testing"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"quorate/raftstore/testcluster"
	"quorate/raftstore/transport"
)

// TestReadIndexForAFollowerOfALaterTerm: the follower that asks vouches for the leader with its own
// term, which is a quorum in a cluster of three. One in a later term has perhaps elected another
// leader, and what that committed would be missed.
func TestReadIndexForAFollowerOfALaterTerm(t *testing.T) {
	t.Parallel()
	c := testcluster.New(t, 3, unhurried)
	c.Ready()
	leader := c.Leader()
	follower := c.Follower(leader)
	asking := peer.NewContext(within(t, time.Minute), &peer.Peer{AuthInfo: credentials.TLSInfo{State: tls.ConnectionState{
		PeerCertificates: []*x509.Certificate{{URIs: []*url.URL{transport.PeerURI(follower.Name)}}},
	}}})
	term := leader.Store.Term()
	for _, c := range []struct {
		term      uint64
		confirmed bool
	}{{term - 1, true}, {term, true}, {term + 1, false}} {
		answer, err := leader.Store.ReadIndexFor(asking, c.term)
		if err != nil {
			t.Fatal(err)
		}
		if confirmed := !answer.GetNotLeader() && answer.GetMessage() == "" && answer.GetIndex() > 0; confirmed != c.confirmed {
			t.Errorf("the leader of term %d answers a follower in term %d: %v", term, c.term, answer)
		}
	}
}
