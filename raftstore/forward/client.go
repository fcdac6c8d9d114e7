package forward

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"quorate/proto/peerpb"
	"quorate/raftstore/direct"
)

// ErrNotSent reports a write that the peer has certainly not accepted: this node did not send it,
// or the peer said so.
var ErrNotSent = errors.New("not sent")

const (
	// maxRedial bounds the pause between attempts to connect to an unreachable peer. Requests
	// during the pause fail immediately.
	maxRedial = time.Second
	// minConnect is the time that an attempt to connect may take.
	minConnect = 3 * time.Second
)

// Transport connects to peers. *transport.Mux implements it.
type Transport interface {
	// Connect returns a gRPC client connection to a peer address.
	Connect(name, address string, options ...grpc.DialOption) (*grpc.ClientConn, error)
	// DialDirect connects to a peer address for a protocol of package direct.
	DialDirect(ctx context.Context, name, address string, p direct.Protocol) (net.Conn, error)
	// CountTooLarge counts a message that was refused for its size.
	CountTooLarge()
}

// Client holds the connections and one queue of writes per peer. Its methods are safe for concurrent
// use.
type Client struct {
	transport Transport
	connect   time.Duration
	metrics   *metrics
	senders   sync.WaitGroup // goroutines that run the queues

	mu     sync.Mutex
	peers  map[string]*peer // by name
	closed bool
}

type peer struct {
	address  string
	conn     *grpc.ClientConn
	store    peerpb.StoreClient // over conn
	direct   *direct.Conn
	frequent peerpb.StoreClient // over direct: writes, read indexes and terms
	queue    *queue
	endQueue context.CancelFunc
}

// close closes the connections. Their requests fail as if the connections were lost.
func (p *peer) close() error {
	p.endQueue()
	return errors.Join(p.direct.Close(), p.conn.Close())
}

// NewClient returns a client without connections. connect bounds the time in which a peer must
// accept a connection for writes, read indexes and terms: the requests that wait for it then fail,
// and can go to another leader.
func NewClient(t Transport, connect time.Duration, reg prometheus.Registerer) *Client {
	return &Client{transport: t, connect: connect, metrics: newMetrics(reg), peers: make(map[string]*peer)}
}

// Write sends an encoded entry to the peer, which should be the leader, and returns its response.
// After an error that wraps ErrNotSent, the peer has certainly not accepted the write; after any
// other error the write may still be applied, even if ctx has ended. The caller must not use the
// request afterwards.
func (c *Client) Write(ctx context.Context, name, address string, req *peerpb.WriteRequest) (*peerpb.WriteResponse, error) {
	p, err := c.peer(name, address)
	if err != nil {
		return nil, errors.Join(ErrNotSent, err)
	}
	return p.queue.write(ctx, req)
}

// ReadIndex asks the peer, which should be the leader, for a confirmed index. term is this node's
// current term.
func (c *Client) ReadIndex(ctx context.Context, name, address, clusterID string, term uint64) (*peerpb.ReadIndexResponse, error) {
	p, err := c.peer(name, address)
	if err != nil {
		return nil, err
	}
	resp, err := p.frequent.ReadIndex(ctx, &peerpb.ReadIndexRequest{ClusterId: clusterID, Term: term})
	if err != nil {
		return nil, fmt.Errorf("ask %s for a read index: %w", name, err)
	}
	return resp, nil
}

// Term asks the peer for its current term.
func (c *Client) Term(ctx context.Context, name, address, clusterID string) (uint64, error) {
	p, err := c.peer(name, address)
	if err != nil {
		return 0, err
	}
	resp, err := p.frequent.Confirm(ctx, &peerpb.ConfirmRequest{ClusterId: clusterID})
	if err != nil {
		return 0, fmt.Errorf("ask %s for its term: %w", name, err)
	}
	return resp.GetTerm(), nil
}

// Checksum asks the peer for the checksum of a state. The error's gRPC code is NotFound if the peer
// does not retain that state.
func (c *Client) Checksum(ctx context.Context, name, address string, req *peerpb.ChecksumRequest) (*peerpb.ChecksumResponse, error) {
	store, err := c.store(name, address)
	if err != nil {
		return nil, err
	}
	resp, err := store.Checksum(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("ask %s for a checksum: %w", name, err)
	}
	return resp, nil
}

// Alarms asks the peer for its alarms.
func (c *Client) Alarms(ctx context.Context, name, address, clusterID string) (*peerpb.AlarmsResponse, error) {
	store, err := c.store(name, address)
	if err != nil {
		return nil, err
	}
	resp, err := store.Alarms(ctx, &peerpb.AlarmsRequest{ClusterId: clusterID})
	if err != nil {
		return nil, fmt.Errorf("ask %s for its alarms: %w", name, err)
	}
	return resp, nil
}

// store returns a client of the peer's service.
func (c *Client) store(name, address string) (peerpb.StoreClient, error) {
	p, err := c.peer(name, address)
	if err != nil {
		return nil, err
	}
	return p.store, nil
}

// peer returns the peer, and replaces its connection if the address has changed.
func (c *Client) peer(name, address string) (*peer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errClosed
	}
	known := c.peers[name]
	if known != nil && known.address == address {
		return known, nil
	}
	conn, err := c.transport.Connect(name, address, grpc.WithConnectParams(grpc.ConnectParams{
		Backoff: backoff.Config{
			BaseDelay: 50 * time.Millisecond, Multiplier: 2, Jitter: 0.2, MaxDelay: maxRedial,
		},
		MinConnectTimeout: minConnect,
	}))
	if err != nil {
		return nil, err
	}
	if known != nil {
		known.close()
	}
	fresh := &peer{address: address, conn: conn, store: peerpb.NewStoreClient(conn)}
	fresh.direct = direct.NewConn(func(ctx context.Context, p direct.Protocol) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, c.connect) // the context of a stream has no deadline
		defer cancel()
		return c.transport.DialDirect(ctx, name, address, p)
	}, conn, c.transport.CountTooLarge)
	fresh.frequent = peerpb.NewStoreClient(fresh.direct)
	fresh.queue = newQueue(name, fresh.frequent, c.metrics)
	ctx, endQueue := context.WithCancel(context.Background())
	fresh.endQueue = endQueue
	c.senders.Go(func() { fresh.queue.run(ctx) })
	c.peers[name] = fresh
	return fresh, nil
}

// Retain closes the connections to peers for which keep returns false, because they have left the
// cluster.
func (c *Client) Retain(keep func(name string) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, p := range c.peers {
		if !keep(name) {
			p.close()
			delete(c.peers, name)
		}
	}
}

// Close closes all connections. Their requests fail.
func (c *Client) Close() error {
	err := c.closePeers()
	c.senders.Wait()
	return err
}

func (c *Client) closePeers() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	var errs []error
	for _, p := range c.peers {
		errs = append(errs, p.close())
	}
	clear(c.peers)
	return errors.Join(errs...)
}
