package transport

import (
	"strings"

	"github.com/hashicorp/raft"
)

// requests passes the peers' requests on to the library, with the server id in those for a vote,
// and with the commits that this node has learnt of (see commits).
//
// The library stores the bytes of a candidate's address as the vote, and compares addresses when it
// is asked again. Machines and containers that start again may swap addresses: after a vote for b,
// it would grant the same term to c at b's former address, without a look at c's log. With the id
// in front of the address no other server has those bytes. The voter puts it there, so what
// candidates send stays as it was, and a vote is remembered by id whatever build the candidate
// runs.
type requests struct {
	from <-chan raft.RPC
	to   chan raft.RPC
	done chan struct{} // closed when the transport closes

	commits *commits
}

func newRequests(from <-chan raft.RPC) *requests {
	return &requests{from: from, to: make(chan raft.RPC), done: make(chan struct{}), commits: newCommits()}
}

func (r *requests) run() {
	var log appended
	for {
		var next raft.RPC
		select {
		case next = <-r.from:
			switch req := next.Command.(type) {
			case *raft.RequestVoteRequest:
				identify(req)
			case *raft.AppendEntriesRequest:
				log.follow(req, r.commits.latest())
			}
		case <-r.commits.wake:
			req := log.tell(r.commits.latest())
			if req == nil {
				continue
			}
			next = raft.RPC{Command: req, RespChan: make(chan raft.RPCResponse, 1)} // nobody reads the answer
		case <-r.done:
			return
		}
		select {
		case r.to <- next:
		case <-r.done: // who asked hears that the transport is closed
			return
		}
	}
}

// identify puts the candidate's id into what the library remembers a vote by. Every build of ours
// sends the address in the header.
func identify(vote *raft.RequestVoteRequest) {
	vote.RPCHeader.Addr = []byte(string(vote.ID) + nameMark + string(vote.RPCHeader.Addr))
}

// Consumer implements raft.Transport.
func (t *Raft) Consumer() <-chan raft.RPC { return t.requests.to }

// DecodePeer implements raft.Transport: an address, also of one that identify has changed.
func (t *Raft) DecodePeer(encoded []byte) raft.ServerAddress {
	_, addr, identified := strings.Cut(string(encoded), nameMark)
	if !identified {
		addr = string(encoded)
	}
	return raft.ServerAddress(addr)
}
