package appendrpc

import (
	"errors"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// Pipeline sends appends to a follower. It implements raft.AppendPipeline.
type Pipeline struct {
	conn      *framed
	timeout   time.Duration
	window    *window
	far       func()       // called for each request beyond nearRequests
	sent      chan *future // requests without a response, in order
	responses chan raft.AppendFuture
	closed    chan struct{}
	closing   sync.Once
	closeErr  error
	receiving sync.WaitGroup
}

// NewPipeline returns a pipeline on a connection that a Server serves at the other end. timeout
// bounds the sending of a request, and the wait for the next response while there are requests. The
// pipeline calls far for each request that it sends before the responses to two earlier ones.
func NewPipeline(c net.Conn, timeout time.Duration, far func()) *Pipeline {
	p := &Pipeline{
		conn: newFramed(c), timeout: timeout, window: newWindow(), far: far,
		sent: make(chan *future, farRequests), responses: make(chan raft.AppendFuture), closed: make(chan struct{}),
	}
	p.receiving.Go(p.receive)
	return p
}

// AppendEntries implements raft.AppendPipeline. It returns when the next request may be sent. Only
// one goroutine may call it at a time. After an error the pipeline is of no further use.
func (p *Pipeline) AppendEntries(req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	f := &future{req: req, resp: resp, done: make(chan struct{})}
	for _, e := range req.Entries {
		f.bytes += len(e.Data) + len(e.Extensions)
	}
	if !p.window.begin(f, p.closed) {
		return nil, raft.ErrPipelineShutdown
	}
	if err := p.conn.write(p.timeout, func(b []byte) []byte { return appendRequest(b, req) }); err != nil {
		p.end()
		return nil, err
	}
	select {
	case p.sent <- f: // has room
	case <-p.closed:
		return nil, raft.ErrPipelineShutdown
	}
	far, ok := p.window.await(f.start, p.closed)
	if !ok {
		return nil, raft.ErrPipelineShutdown
	}
	if far {
		p.far()
	}
	return f, nil
}

// Consumer implements raft.AppendPipeline.
func (p *Pipeline) Consumer() <-chan raft.AppendFuture { return p.responses }

// Close implements raft.AppendPipeline. Futures without a response stay without one.
func (p *Pipeline) Close() error {
	p.end()
	p.receiving.Wait()
	return p.closeErr
}

// end closes the connection.
func (p *Pipeline) end() {
	p.closing.Do(func() {
		close(p.closed)
		p.closeErr = p.conn.Close()
	})
}

// receive receives the responses until the pipeline is closed. After an error the connection ends,
// and all further requests get that error.
func (p *Pipeline) receive() {
	var broken error
	for {
		select {
		case f := <-p.sent:
			if broken == nil {
				f.err, broken = p.response(f.resp)
			} else {
				f.err = broken
			}
			p.window.end(f, time.Now())
			close(f.done)
			select {
			case p.responses <- f:
			case <-p.closed:
				return
			}
		case <-p.closed:
			return
		}
	}
}

// response receives the next response. err is its error, and broken what makes the connection
// useless.
func (p *Pipeline) response(resp *raft.AppendEntriesResponse) (err, broken error) {
	if broken = p.conn.SetReadDeadline(time.Now().Add(p.timeout)); broken != nil {
		return broken, broken
	}
	b, broken := p.conn.read()
	if broken != nil {
		return broken, broken
	}
	if err = decodeResponse(b, resp); errors.Is(err, errMalformed) {
		return err, err
	}
	return err, nil
}

// future implements raft.AppendFuture.
type future struct {
	start time.Time
	req   *raft.AppendEntriesRequest
	resp  *raft.AppendEntriesResponse
	bytes int  // of the entries
	alone bool // when it was sent, it was the only one on the way
	done  chan struct{}
	err   error // readable once done is closed
}

func (f *future) Error() error {
	<-f.done
	return f.err
}

func (f *future) Start() time.Time                      { return f.start }
func (f *future) Request() *raft.AppendEntriesRequest   { return f.req }
func (f *future) Response() *raft.AppendEntriesResponse { return f.resp }
