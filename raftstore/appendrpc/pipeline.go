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
	sent      chan *future // a request whose response comes next; unbuffered, so that one more waits at most
	responses chan raft.AppendFuture
	closed    chan struct{}
	closing   sync.Once
	closeErr  error
	receiving sync.WaitGroup
}

// NewPipeline returns a pipeline on a connection that a Server serves at the other end. timeout
// bounds the sending of a request, and the wait for the next response while there are requests.
func NewPipeline(c net.Conn, timeout time.Duration) *Pipeline {
	p := &Pipeline{
		conn: newFramed(c), timeout: timeout,
		sent: make(chan *future), responses: make(chan raft.AppendFuture), closed: make(chan struct{}),
	}
	p.receiving.Go(p.receive)
	return p
}

// AppendEntries implements raft.AppendPipeline. Only one goroutine may call it at a time. After an
// error the pipeline is of no further use.
func (p *Pipeline) AppendEntries(req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	f := &future{start: time.Now(), req: req, resp: resp, done: make(chan struct{})}
	if err := p.conn.write(p.timeout, func(b []byte) []byte { return appendRequest(b, req) }); err != nil {
		p.end()
		return nil, err
	}
	select {
	case p.sent <- f:
		return f, nil
	case <-p.closed:
		return nil, raft.ErrPipelineShutdown
	}
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
