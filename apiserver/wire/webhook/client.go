package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const (
	// idleTimeout is how long a connection stays open for the next call.
	idleTimeout = 30 * time.Second
	// defaultPort is the port of a service that names none.
	defaultPort = 443
)

// ErrBusy reports that as many calls as may be are under way.
var ErrBusy = errors.New("too many calls are under way")

// ErrTooLong reports that an answer is longer than it may be.
var ErrTooLong = errors.New("the answer is longer than allowed")

// Config describes a webhook as a clientConfig does.
type Config struct {
	// URL is the address. If it is empty, Service names it.
	URL     string
	Service *Service
	// CABundle holds the certificates in PEM that sign that of the webhook; empty for those of the
	// system.
	CABundle []byte

	// Calls bounds the concurrent calls.
	Calls int
	// IdleConnections is how many connections stay open for later calls.
	IdleConnections int
	// ResponseBytes bounds an answer.
	ResponseBytes int64

	// Transport replaces HTTPS in tests.
	Transport http.RoundTripper
}

// Service is the service of a webhook. There is no service network here: its name must resolve by
// DNS.
type Service struct {
	Namespace, Name, Path string
	Port                  int64
}

// address returns the URL of a webhook.
func (c *Config) address() string {
	if c.Service == nil {
		return c.URL
	}
	port := c.Service.Port
	if port == 0 {
		port = defaultPort
	}
	host := c.Service.Name + "." + c.Service.Namespace + ".svc"
	u := url.URL{Scheme: "https", Host: net.JoinHostPort(host, strconv.FormatInt(port, 10)), Path: c.Service.Path}
	return u.String()
}

// Client calls one webhook.
type Client struct {
	address  string
	service  bool
	client   *http.Client
	slots    chan struct{}
	maxBytes int64
}

// New returns a Client. It calls nothing. An error means that the certificates cannot be read.
func New(cfg Config) (*Client, error) {
	tlsConfig := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(cfg.CABundle) > 0 {
		tlsConfig.RootCAs = x509.NewCertPool()
		if !tlsConfig.RootCAs.AppendCertsFromPEM(cfg.CABundle) {
			return nil, errors.New("clientConfig.caBundle holds no certificate")
		}
	}
	transport := cfg.Transport
	if transport == nil {
		transport = &http.Transport{
			TLSClientConfig: tlsConfig, MaxConnsPerHost: cfg.Calls, MaxIdleConnsPerHost: cfg.IdleConnections, IdleConnTimeout: idleTimeout,
		}
	}
	return &Client{
		address: cfg.address(),
		service: cfg.Service != nil,
		client: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		slots:    make(chan struct{}, cfg.Calls),
		maxBytes: cfg.ResponseBytes,
	}, nil
}

// Close closes idle connections. Calls under way go on.
func (c *Client) Close() { c.client.CloseIdleConnections() }

// Enter waits until fewer than Calls callers are between Enter and Leave, or returns ErrBusy when
// ctx ends.
func (c *Client) Enter(ctx context.Context) error { return Enter(ctx, c.slots) }

// Leave ends what Enter began.
func (c *Client) Leave() { <-c.slots }

// Enter sends to slots, which holds as many values as there may be calls, or returns ErrBusy if
// there is no room before ctx ends.
func Enter(ctx context.Context, slots chan<- struct{}) error {
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %d", ErrBusy, cap(slots))
	}
}

// Post sends a JSON document with a query, which may be empty, and returns the answer, which holds
// memory of answers until it is released. It waits as long as ctx allows.
func (c *Client) Post(ctx context.Context, answers *Answers, query string, body []byte) (*Answer, error) {
	address := c.address
	if query != "" {
		address += "?" + query
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := c.client.Do(req)
	if err != nil {
		return nil, c.explain(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the webhook answered %s", resp.Status)
	}
	answer, err := answers.read(ctx, c.address, resp.Body, resp.ContentLength, int64(len(body))+usualBytes, c.maxBytes)
	if err != nil {
		answer.Release()
		return nil, fmt.Errorf("read the answer: %w", c.explain(err))
	}
	return answer, nil
}

// explain says what to do about a name of a service that does not resolve, and that a webhook took
// too long.
func (c *Client) explain(err error) error {
	if _, unknown := errors.AsType[*net.DNSError](err); unknown && c.service {
		return fmt.Errorf("%w: there is no service network here, so the name must resolve by DNS; or set clientConfig.url", err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the webhook did not answer in time: %w", err)
	}
	return err
}
