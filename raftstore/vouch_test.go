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

// TestReadIndexForAFollowerOfALaterTerm requests read indexes from the leader of three nodes on
// behalf of a follower, whose term counts as its confirmation: follower and leader are a quorum.
// The leader must refuse a follower in a later term, which may have elected another leader whose
// commits the read would miss.
func TestReadIndexForAFollowerOfALaterTerm(t *testing.T) {
	t.Parallel()
	c := testcluster.New(t, 3, slowElections)
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
