package transport

import (
	"strings"

	"github.com/hashicorp/raft"
)

// requests passes the peers' requests on to the library, with the server id in those for a vote.
//
// The library stores the bytes of a candidate's address as the vote, and compares addresses when it is asked again. Machines
// and containers that start again may swap addresses: after a vote for b, it would grant the same term to c at b's former
// address, without a look at c's log. With the id in front of the address no other server has those bytes. The voter puts it
// there, so what candidates send stays as it was, and a vote is remembered by id whatever build the candidate runs.
type requests struct {
	from <-chan raft.RPC
	to   chan raft.RPC
	done chan struct{} // closed when the transport closes
}

func newRequests(from <-chan raft.RPC) *requests {
	return &requests{from: from, to: make(chan raft.RPC), done: make(chan struct{})}
}

func (r *requests) run() {
	for {
		select {
		case rpc := <-r.from:
			if vote, ok := rpc.Command.(*raft.RequestVoteRequest); ok {
				identify(vote)
			}
			select {
			case r.to <- rpc:
			case <-r.done: // who asked hears that the transport is closed
				return
			}
		case <-r.done:
			return
		}
	}
}

// identify puts the candidate's id into what the library remembers a vote by.
func identify(vote *raft.RequestVoteRequest) {
	addr := vote.RPCHeader.Addr
	if len(addr) == 0 {
		addr = vote.Candidate // as the library does
	}
	vote.RPCHeader.Addr = []byte(string(vote.ID) + nameMark + string(addr))
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
