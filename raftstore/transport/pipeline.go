package transport

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"
)

// pipeline is the library's pipeline of appends to one follower, without its deadlock: the library
// stops taking answers at the first bad one, but may send once more before it notices. That send
// waits for the decoder, the decoder for somebody to take its answer, and neither sees the other's
// end; from then on the follower gets no entries while this node leads, and Raft can't be shut
// down. Here answers after a bad one are thrown away, and sends after it fail.
type pipeline struct {
	raft.AppendPipeline
	transport *Raft
	follower  raft.ServerID
	answers   chan raft.AppendFuture
	broken    atomic.Bool
	closed    chan struct{}
	closeOnce sync.Once
	pump      sync.WaitGroup
}

// errBroken ends a pipeline whose follower has refused an append.
var errBroken = errors.New("append refused earlier")

func newPipeline(inner raft.AppendPipeline, t *Raft, follower raft.ServerID) *pipeline {
	p := &pipeline{
		AppendPipeline: inner, transport: t, follower: follower,
		answers: make(chan raft.AppendFuture), closed: make(chan struct{}),
	}
	p.pump.Go(p.run)
	return p
}

// AppendEntries implements raft.AppendPipeline.
func (p *pipeline) AppendEntries(req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	switch {
	case p.transport.muted.Load():
		return nil, errMuted
	case p.broken.Load():
		return nil, errBroken
	}
	shorten(req)
	return p.AppendPipeline.AppendEntries(compared(req), resp)
}

// Consumer implements raft.AppendPipeline.
func (p *pipeline) Consumer() <-chan raft.AppendFuture { return p.answers }

// Close implements raft.AppendPipeline.
func (p *pipeline) Close() error {
	p.closeOnce.Do(func() { close(p.closed) })
	err := p.AppendPipeline.Close()
	p.pump.Wait()
	return err
}

// run passes answers on until a bad one, and takes the rest, so that the decoder never waits.
func (p *pipeline) run() {
	for {
		select {
		case answer := <-p.AppendPipeline.Consumer():
			if p.broken.Load() {
				continue
			}
			if answer.Error() != nil || !answer.Response().Success {
				p.broken.Store(true)
			} else {
				p.transport.answered(p.follower, answer.Request(), answer.Response())
			}
			select {
			case p.answers <- answer:
			case <-p.closed:
				return
			}
		case <-p.closed:
			return
		}
	}
}
