package transport

import (
	"strings"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"quorate/raftstore/snapshot"
)

// requests passes the requests of peers to the library. It adds the candidate's server id to vote
// requests, and the commits that this node has learned of to appends (see commits), and responds
// itself to requests to install a snapshot that this node has not received.
//
// The library stores a candidate's address as the vote, and compares addresses when it receives
// another vote request for the same term. Machines and containers that restart may swap addresses:
// after a vote for b, the library would grant the same term to c at b's former address, without
// comparing c's log. So requests puts the id in front of the address: no other server then has the
// same bytes. The voter adds the id when it receives a request, so the format of requests is
// unchanged, and the voter records votes by id whatever build the candidate runs.
type requests struct {
	from    <-chan raft.RPC
	appends chan raft.RPC // from pipelines
	to      chan raft.RPC
	done    chan struct{} // closed when the transport closes

	commits *commits
	claim   atomic.Pointer[func(snapshot.Content) error] // see SetClaim
}

func newRequests(from <-chan raft.RPC) *requests {
	return &requests{from: from, appends: make(chan raft.RPC), to: make(chan raft.RPC), done: make(chan struct{}), commits: newCommits()}
}

func (r *requests) run() {
	var log lastAppend
	for {
		var next raft.RPC
		select {
		case next = <-r.from:
			switch req := next.Command.(type) {
			case *raft.RequestVoteRequest:
				identify(req)
			case *raft.AppendEntriesRequest:
				log.recordAppend(req, r.commits.latest())
			case *raft.InstallSnapshotRequest:
				if !r.takeReceived(req, &next) {
					continue
				}
			}
		case next = <-r.appends:
			log.recordAppend(next.Command.(*raft.AppendEntriesRequest), r.commits.latest())
		case <-r.commits.wake:
			req := log.commitAppend(r.commits.latest())
			if req == nil {
				continue
			}
			next = raft.RPC{Command: req, RespChan: make(chan raft.RPCResponse, 1)} // nothing reads the response
		case <-r.done:
			return
		}
		select {
		case r.to <- next:
		case <-r.done: // the peer gets an error: the transport is closed
			return
		}
	}
}

// identify puts the candidate's id in front of the address that the library stores as the vote.
// Every build of Quorate sends the address in the header.
func identify(vote *raft.RequestVoteRequest) {
	vote.RPCHeader.Addr = []byte(string(vote.ID) + nameSeparator + string(vote.RPCHeader.Addr))
}

// Consumer implements raft.Transport.
func (t *Raft) Consumer() <-chan raft.RPC { return t.requests.to }

// DecodePeer implements raft.Transport. It also decodes addresses that identify has changed.
func (t *Raft) DecodePeer(encoded []byte) raft.ServerAddress {
	_, addr, identified := strings.Cut(string(encoded), nameSeparator)
	if !identified {
		addr = string(encoded)
	}
	return raft.ServerAddress(addr)
}
