package transport

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

// pipeline wraps the library's pipeline of appends to one follower, which can deadlock. The library
// stops reading responses at the first refusal, but may send once more before it notices. That send
// waits for the decoder, and the decoder waits for a reader of its response; neither observes that
// the pipeline has ended. From then on the follower gets no entries while this node leads, and Raft
// can't be shut down. This pipeline discards responses after a refusal and fails later sends.
//
// It also sends appends early (Raft.EarlyLog), and few of those that tell nothing new (repeats).
type pipeline struct {
	raft.AppendPipeline
	transport   *Raft
	follower    raft.ServerID
	responses   chan raft.AppendFuture
	announced   chan []*raft.Log      // entries that Raft is about to store
	inFlight    atomic.Int32          // requests without a response
	withEntries atomic.Int32          // those of them that have entries
	early       atomic.Pointer[early] // not asked for by the library yet; nil if there is none
	broken      atomic.Bool
	closed      chan struct{}
	closeOnce   sync.Once
	work        sync.WaitGroup
	pacer       *pacer

	sending sync.Mutex
	sent    raft.AppendEntriesRequest // the last request, with its last entry as PrevLogEntry and without entries
	sentAt  time.Time
	last    raft.AppendFuture // of the last request, nil before the first
}

// errBroken is the error of sends after an append was refused or failed, or after the library did
// not ask for an append that was sent early.
var errBroken = errors.New("an earlier append failed")

func newPipeline(inner raft.AppendPipeline, t *Raft, follower raft.ServerID) *pipeline {
	p := &pipeline{
		AppendPipeline: inner, transport: t, follower: follower,
		responses: make(chan raft.AppendFuture), announced: make(chan []*raft.Log, 1), closed: make(chan struct{}),
		pacer: newPacer(),
	}
	p.work.Go(p.run)
	p.work.Go(p.sendEarly)
	t.pipelines.add(p)
	return p
}

// AppendEntries implements raft.AppendPipeline. It may return some time after it has sent the
// request (pace).
func (p *pipeline) AppendEntries(req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	p.pacer.nonvoter.Store(p.transport.isNonvoter(p.follower))
	future, err := p.append(req, resp)
	if err == nil {
		p.pace(req)
	}
	return future, err
}

func (p *pipeline) append(req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	shorten(req)
	p.sending.Lock()
	defer p.sending.Unlock()
	if err := p.refusal(); err != nil {
		return nil, err
	}
	if future, err := p.claim(req); future != nil || err != nil {
		return future, err
	}
	if p.repeats(req) {
		return p.last, nil
	}
	return p.send(req, resp)
}

// refusal returns the reason for which the pipeline sends nothing, nil if there is none.
func (p *pipeline) refusal() error {
	switch {
	case p.transport.muted.Load():
		return errMuted
	case p.broken.Load():
		return errBroken
	default:
		return nil
	}
}

// send sends a request. The caller holds sending.
func (p *pipeline) send(req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	p.sent = *req
	if n := len(req.Entries); n > 0 {
		p.sent.PrevLogEntry, p.sent.PrevLogTerm, p.sent.Entries = req.Entries[n-1].Index, req.Entries[n-1].Term, nil
	}
	p.inFlight.Add(1)
	if len(req.Entries) > 0 {
		p.withEntries.Add(1)
	}
	future, err := p.AppendPipeline.AppendEntries(boundCommit(req), resp)
	p.last, p.sentAt = future, time.Now()
	return future, err
}

// Consumer implements raft.AppendPipeline.
func (p *pipeline) Consumer() <-chan raft.AppendFuture { return p.responses }

// Close implements raft.AppendPipeline.
func (p *pipeline) Close() error {
	p.closeOnce.Do(func() {
		p.transport.pipelines.remove(p)
		close(p.closed)
	})
	err := p.AppendPipeline.Close()
	p.work.Wait()
	return err
}

// run passes responses on up to the first refusal, and discards the rest, so that the decoder never
// blocks. It sends the commit index once the follower has been idle for a while.
func (p *pipeline) run() {
	idle := time.NewTimer(commitPause)
	defer idle.Stop()
	for {
		select {
		case response := <-p.AppendPipeline.Consumer():
			p.inFlight.Add(-1)
			if len(response.Request().Entries) > 0 {
				p.withEntries.Add(-1)
			}
			if p.broken.Load() {
				continue
			}
			if !p.pass(response) {
				return
			}
			idle.Reset(p.idlePause())
		case <-idle.C:
			if p.sendCommit() {
				idle.Reset(p.idlePause())
			}
		case <-p.closed:
			return
		}
	}
}

// pass passes a response on to the library. It returns false if the pipeline closes first.
func (p *pipeline) pass(response raft.AppendFuture) bool {
	if !p.awaitClaim(response) {
		return false
	}
	if response.Error() != nil || !response.Response().Success {
		p.broken.Store(true)
	} else {
		p.transport.reportStored(p.follower, response.Request(), response.Response())
	}
	select {
	case p.responses <- response:
		return true
	case <-p.closed:
		return false
	}
}
