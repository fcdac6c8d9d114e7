package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

const (
	// lanes is the number of connections over which a client distributes its requests.
	lanes = 4
	// maxAnswerBytes bounds the bytes that are read of one response: a list of all objects of a run
	// fits.
	maxAnswerBytes = 512 << 20
)

// Credentials give access to one cluster's API.
type Credentials struct {
	CA    []byte // PEM
	Token string
}

// Client talks to one node. It is safe for concurrent use.
type Client struct {
	base   string
	token  string
	server string // host and port
	roots  *x509.CertPool
	all    []*lane
	lane   *lane // where requests go
}

// Window bounds the unread bytes of one response and of all responses of one connection. The zero
// Window is that of net/http.
type Window struct{ Stream, Connection int }

// New returns a client of the node at base, "https://host:port". Nothing is dialled before the
// first request.
func New(base string, c Credentials) (*Client, error) {
	server, err := url.Parse(base)
	if err != nil || server.Scheme != "https" || server.Host == "" {
		return nil, fmt.Errorf("%q is no address of a node: want https://HOST:PORT", base)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(c.CA) {
		return nil, errors.New("no certificate in the cluster's CA file")
	}
	client := &Client{base: base, token: c.Token, server: server.Host, roots: pool}
	client.dialBy(lanes, Window{})
	return client, nil
}

// Apart returns a client of the same node with the given number of connections of its own. Its
// Close closes only those.
func (c *Client) Apart(lanes int, w Window) *Client {
	other := &Client{base: c.base, token: c.token, server: c.server, roots: c.roots}
	other.dialBy(lanes, w)
	return other
}

// dialBy creates the client's lanes.
func (c *Client) dialBy(lanes int, w Window) {
	transport := &http.Transport{
		TLSClientConfig:    &tls.Config{RootCAs: c.roots, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:  true,
		DisableCompression: true,
		HTTP2: &http.HTTP2Config{
			SendPingTimeout: pingAfter, PingTimeout: pingAfter, WriteByteTimeout: 2 * pingAfter,
			MaxReceiveBufferPerStream: w.Stream, MaxReceiveBufferPerConnection: w.Connection,
		},
	}
	var numbers atomic.Int64
	c.all = nil
	for range lanes {
		c.all = append(c.all, &lane{transport: transport, address: c.server, numbers: &numbers})
	}
	c.lane = c.all[0]
}

// Lane returns a client of the same node that uses connection n, modulo a small number. Close of
// any of these clients closes all connections.
func (c *Client) Lane(n int) *Client {
	other := *c
	other.lane = c.all[n%len(c.all)]
	return &other
}

// Close closes all connections. Pending and later requests fail.
func (c *Client) Close() {
	for _, one := range c.all {
		one.close()
	}
}

// do sends one request and reads the whole response. The error describes any outcome other than OK.
func (c *Client) do(ctx context.Context, method, path string, content []byte) (Outcome, []byte, error) {
	a, err := c.exchange(ctx, method, path, content)
	return a.outcome, a.text, err
}

// answer is the response to one request.
type answer struct {
	outcome    Outcome
	text       []byte
	connection int // the number of that by which it came; 0: none came
}

func (c *Client) exchange(ctx context.Context, method, path string, content []byte) (answer, error) {
	return c.exchangeAs(ctx, JSON, method, path, content)
}

// exchangeAs requests a response in a media type.
func (c *Client) exchangeAs(ctx context.Context, accept, method, path string, content []byte) (answer, error) {
	resp, connection, outcome, err := c.send(ctx, accept, method, path, content)
	if err != nil {
		return answer{outcome: outcome}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes))
	if err != nil {
		return answer{outcome: Unknown}, fmt.Errorf("%s %s: answer %d breaks off: %w", method, path, resp.StatusCode, err)
	}
	outcome, flaw := outcomeOf(resp.StatusCode, resp.Header.Get("Content-Type"), text)
	return answer{outcome, text, connection}, errorOf(outcome, flaw, method+" "+path, resp.StatusCode, text)
}

// errorOf returns the error of an outcome, nil for OK.
func errorOf(outcome Outcome, flaw, request string, code int, text []byte) error {
	switch {
	case outcome == OK:
		return nil
	case flaw != "":
		return fmt.Errorf("%s: %s: %d %s", request, flaw, code, readable(text))
	default:
		return fmt.Errorf("%s: %d %s", request, code, readable(text))
	}
}

// maxQuoted bounds the part of a response that an error quotes.
const maxQuoted = 300

// readable returns the beginning of a response as text.
func readable(text []byte) string {
	text = text[:min(len(text), maxQuoted)]
	if utf8.Valid(text) && !bytes.ContainsFunc(text, unicode.IsControl) {
		return string(text)
	}
	return strconv.Quote(string(text))
}

// send returns a response, whose body the caller must read and close, and the number of its
// connection. Without a response, the outcome is Refused if the request is malformed, Unavailable
// if it certainly had no effect, and Unknown otherwise.
func (c *Client) send(ctx context.Context, accept, method, path string, content []byte) (*http.Response, int, Outcome, error) {
	return c.sendWith(ctx, method, path, content, http.Header{"Accept": {accept}})
}

// sendWith is send with header fields that replace the usual ones.
func (c *Client) sendWith(
	ctx context.Context, method, path string, content []byte, set http.Header,
) (*http.Response, int, Outcome, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, nil)
	if err != nil {
		return nil, 0, Refused, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Accept", JSON)
	var sent *body
	if content != nil {
		sent = newBody(content)
		req.Body, req.ContentLength = sent, int64(len(content)) // no GetBody: it can't be sent twice
		req.Header.Set("Content-Type", "application/json")
	}
	maps.Copy(req.Header, set)
	conn, err := c.lane.reserve(ctx)
	if err != nil {
		return nil, 0, Unavailable, fmt.Errorf("%s %s: %w", method, path, err)
	}
	resp, err := conn.RoundTrip(req)
	if err == nil {
		return resp, conn.number, OK, nil
	}
	outcome := Unknown
	if sent != nil && sent.untouched() || unprocessed(err) {
		outcome = Unavailable
	}
	return nil, 0, outcome, fmt.Errorf("%s %s: %w", method, path, err)
}
