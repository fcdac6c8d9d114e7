package transport

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"
)

// pipeline is the library's pipeline of appends to one follower without its deadlock. The library
// stops reading responses at the first refusal, but may send once more before it notices. That send
// waits for the decoder, and the decoder waits for a reader of its response; neither observes that
// the pipeline has ended. From then on the follower gets no entries while this node leads, and Raft
// can't be shut down. This pipeline discards responses after a refusal and fails later sends.
type pipeline struct {
	raft.AppendPipeline
	transport *Raft
	follower  raft.ServerID
	responses chan raft.AppendFuture
	broken    atomic.Bool
	closed    chan struct{}
	closeOnce sync.Once
	pump      sync.WaitGroup
}

// errBroken is the error of sends after the follower has refused an append.
var errBroken = errors.New("append refused earlier")

func newPipeline(inner raft.AppendPipeline, t *Raft, follower raft.ServerID) *pipeline {
	p := &pipeline{
		AppendPipeline: inner, transport: t, follower: follower,
		responses: make(chan raft.AppendFuture), closed: make(chan struct{}),
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
	return p.AppendPipeline.AppendEntries(boundCommit(req), resp)
}

// Consumer implements raft.AppendPipeline.
func (p *pipeline) Consumer() <-chan raft.AppendFuture { return p.responses }

// Close implements raft.AppendPipeline.
func (p *pipeline) Close() error {
	p.closeOnce.Do(func() { close(p.closed) })
	err := p.AppendPipeline.Close()
	p.pump.Wait()
	return err
}

// run passes responses on up to the first refusal, and discards the rest, so that the decoder never
// blocks.
func (p *pipeline) run() {
	for {
		select {
		case response := <-p.AppendPipeline.Consumer():
			if p.broken.Load() {
				continue
			}
			if response.Error() != nil || !response.Response().Success {
				p.broken.Store(true)
			} else {
				p.transport.reportStored(p.follower, response.Request(), response.Response())
			}
			select {
			case p.responses <- response:
			case <-p.closed:
				return
			}
		case <-p.closed:
			return
		}
	}
}
