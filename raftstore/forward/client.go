package forward

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"quorate/proto/peerpb"
)

// ErrNotSent reports a request that never left this node.
var ErrNotSent = errors.New("request not sent")

const (
	// maxRedial bounds the pause between attempts to connect to a peer that is away: requests in between fail at once.
	maxRedial = time.Second
	// minConnect is how long one attempt to connect may take.
	minConnect = 3 * time.Second
)

// Connect makes a gRPC client of a peer address: transport.Mux.Connect.
type Connect func(name, address string, options ...grpc.DialOption) (*grpc.ClientConn, error)

// Client holds the connections to the peers. Its methods are safe for concurrent use.
type Client struct {
	connect Connect

	mu     sync.Mutex
	peers  map[string]*peer // by name
	closed bool
}

type peer struct {
	address string
	conn    *grpc.ClientConn
	store   peerpb.StoreClient
}

// NewClient makes a client without connections.
func NewClient(connect Connect) *Client {
	return &Client{connect: connect, peers: make(map[string]*peer)}
}

// Write hands an encoded entry to the peer, which should be the leader.
func (c *Client) Write(ctx context.Context, name, address string, req *peerpb.WriteRequest) (*peerpb.WriteResponse, error) {
	store, err := c.store(name, address)
	if err != nil {
		return nil, errors.Join(ErrNotSent, err)
	}
	ctx, sent := track(ctx)
	resp, err := store.Write(ctx, req)
	if err != nil && !sent.Load() {
		return nil, fmt.Errorf("forward write to %s: %w: %w", name, ErrNotSent, err)
	}
	if err != nil {
		return nil, fmt.Errorf("forward write to %s: %w", name, err)
	}
	return resp, nil
}

// ReadIndex asks the peer, which should be the leader, for a confirmed index; term is the one that this node is in.
func (c *Client) ReadIndex(ctx context.Context, name, address, clusterID string, term uint64) (*peerpb.ReadIndexResponse, error) {
	store, err := c.store(name, address)
	if err != nil {
		return nil, err
	}
	resp, err := store.ReadIndex(ctx, &peerpb.ReadIndexRequest{ClusterId: clusterID, Term: term})
	if err != nil {
		return nil, fmt.Errorf("ask %s for a read index: %w", name, err)
	}
	return resp, nil
}

// Term asks the peer for the term that it is in.
func (c *Client) Term(ctx context.Context, name, address, clusterID string) (uint64, error) {
	store, err := c.store(name, address)
	if err != nil {
		return 0, err
	}
	resp, err := store.Confirm(ctx, &peerpb.ConfirmRequest{ClusterId: clusterID})
	if err != nil {
		return 0, fmt.Errorf("ask %s for its term: %w", name, err)
	}
	return resp.GetTerm(), nil
}

// Checksum asks the peer to sum up a state; the error's gRPC code is NotFound when it doesn't keep that.
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

// Alarms asks the peer what is wrong with it.
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

// store returns the peer's connection, a new one when it has moved.
func (c *Client) store(name, address string) (peerpb.StoreClient, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errors.New("forwarding is closed")
	}
	known := c.peers[name]
	if known != nil && known.address == address {
		return known.store, nil
	}
	conn, err := c.connect(name, address,
		grpc.WithStatsHandler(sentHandler{}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{
				BaseDelay: 50 * time.Millisecond, Multiplier: 2, Jitter: 0.2, MaxDelay: maxRedial,
			},
			MinConnectTimeout: minConnect,
		}))
	if err != nil {
		return nil, err
	}
	if known != nil {
		known.conn.Close() // requests under way fail; to the sender they look like any lost connection
	}
	fresh := &peer{address: address, conn: conn, store: peerpb.NewStoreClient(conn)}
	c.peers[name] = fresh
	return fresh.store, nil
}

// Retain closes the connections to peers for which keep is false: members that have left.
func (c *Client) Retain(keep func(name string) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, p := range c.peers {
		if !keep(name) {
			p.conn.Close()
			delete(c.peers, name)
		}
	}
}

// Close ends all connections; requests under way fail.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	var errs []error
	for _, p := range c.peers {
		errs = append(errs, p.conn.Close())
	}
	clear(c.peers)
	return errors.Join(errs...)
}
