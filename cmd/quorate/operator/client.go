// Package operator is the client of the operator's commands: it calls the API of a node under
// /cluster/v1/. It has no goroutines.
package operator

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"quorate/apiserver/admin"
	"quorate/apiserver/rates"
	"quorate/cmd/quorate/kubeconfig"
)

// maxAnswerBytes bounds the size of a response.
const maxAnswerBytes = 16 << 20

// connectTimeout bounds the wait for a connection to a node while there is another to try. It is
// twice what a busy node takes.
const connectTimeout = 5 * time.Second

// Client calls a cluster: the first of its nodes that can be reached.
type Client struct {
	nodes []node
	token string
}

// node is one address of the cluster.
type node struct {
	http   *http.Client
	server string
}

// New returns a client for the servers of a kubeconfig, in their order.
func New(config kubeconfig.Config) (*Client, error) {
	var roots *x509.CertPool // nil for those of the system
	if len(config.CA) > 0 {
		roots = x509.NewCertPool()
		if !roots.AppendCertsFromPEM(config.CA) {
			return nil, errors.New("the kubeconfig's certificate authority is no certificate in PEM")
		}
	}
	var certificates []tls.Certificate
	if len(config.ClientCertificate) > 0 {
		pair, err := tls.X509KeyPair(config.ClientCertificate, config.ClientKey)
		if err != nil {
			return nil, fmt.Errorf("the kubeconfig's client certificate: %w", err)
		}
		certificates = append(certificates, pair)
	}
	c := &Client{token: config.Token}
	all := []kubeconfig.Node{{Server: config.Server, ServerName: config.ServerName}}
	for _, n := range config.Others {
		if !slices.ContainsFunc(all, func(o kubeconfig.Node) bool { return o.Server == n.Server }) {
			all = append(all, n)
		}
	}
	for i, n := range all {
		server, err := url.Parse(n.Server)
		if err != nil || server.Scheme != "https" || server.Host == "" {
			return nil, fmt.Errorf("%q is no address of an API: want https://HOST:PORT", n.Server)
		}
		transport := &http.Transport{
			TLSClientConfig:   &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: n.ServerName, Certificates: certificates},
			ForceAttemptHTTP2: true,
		}
		if i+1 < len(all) { // the deadline of the command bounds the wait for the last one
			transport.DialContext = (&net.Dialer{Timeout: connectTimeout}).DialContext
			transport.TLSHandshakeTimeout = connectTimeout
		}
		c.nodes = append(c.nodes, node{&http.Client{Transport: transport}, strings.TrimSuffix(n.Server, "/")})
	}
	return c, nil
}

// Close drops the connections.
func (c *Client) Close() {
	for _, n := range c.nodes {
		n.http.CloseIdleConnections()
	}
}

// Members lists the nodes of the cluster.
func (c *Client) Members(ctx context.Context) ([]admin.Member, error) {
	var answer admin.Members
	err := c.do(ctx, http.MethodGet, "/cluster/v1/members", &answer)
	return answer.Members, err
}

// Leave removes the node that serves the request from the cluster for good.
func (c *Client) Leave(ctx context.Context) error {
	return c.do(ctx, http.MethodPost, "/cluster/v1/leave", nil)
}

// TransferLeader transfers leadership to the named voter, or to the most suitable one. It returns
// the new leader, "" if the node is of a build that does not name it.
func (c *Client) TransferLeader(ctx context.Context, name string) (leader string, err error) {
	path := "/cluster/v1/transfer-leader"
	if name != "" {
		path += "?name=" + url.QueryEscape(name)
	}
	var answer struct {
		Details struct {
			Name string `json:"name"`
		} `json:"details"`
	}
	err = c.do(ctx, http.MethodPost, path, &answer)
	return answer.Details.Name, err
}

// Remove removes a dead member, and with force one that responds, too.
func (c *Client) Remove(ctx context.Context, name string, force bool) error {
	path := "/cluster/v1/remove?name=" + url.QueryEscape(name)
	if force {
		path += "&force=true"
	}
	return c.do(ctx, http.MethodPost, path, nil)
}

// Snapshot makes the node write a snapshot.
func (c *Client) Snapshot(ctx context.Context) (admin.Snapshot, error) {
	var answer admin.Snapshot
	err := c.do(ctx, http.MethodPost, "/cluster/v1/snapshot", &answer)
	return answer, err
}

// Checksums compares the states of all nodes.
func (c *Client) Checksums(ctx context.Context) (admin.Checksums, error) {
	var answer admin.Checksums
	err := c.do(ctx, http.MethodPost, "/cluster/v1/checksum", &answer)
	return answer, err
}

// Entries returns the entries before an index of the log of the node, or the last ones if before is
// 0, newest first.
func (c *Client) Entries(ctx context.Context, before uint64, limit int) ([]admin.Entry, error) {
	path := fmt.Sprintf("/cluster/v1/log/entries?limit=%d", limit)
	if before > 0 {
		path += fmt.Sprintf("&before=%d", before)
	}
	var answer admin.Entries
	err := c.do(ctx, http.MethodGet, path, &answer)
	return answer.Entries, err
}

// Change returns an entry of the log of the node, with the object before and after it.
func (c *Client) Change(ctx context.Context, index uint64) (admin.Change, error) {
	var answer admin.Change
	err := c.do(ctx, http.MethodGet, fmt.Sprintf("/cluster/v1/log/entries/%d", index), &answer)
	return answer, err
}

// Rates returns the last hour of the node that serves the request.
func (c *Client) Rates(ctx context.Context) (rates.Rates, error) {
	var answer rates.Rates
	err := c.do(ctx, http.MethodGet, rates.Path, &answer)
	return answer, err
}

// Ready returns nil if the node is ready to serve.
func (c *Client) Ready(ctx context.Context) error {
	return c.do(ctx, http.MethodGet, "/readyz", nil)
}

func (c *Client) do(ctx context.Context, method, path string, answer any) error {
	resp, err := c.send(ctx, method, path)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes))
	if err != nil {
		return fmt.Errorf("read the answer of %s: %w", serverOf(resp), err)
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(content, answer); err != nil {
		return fmt.Errorf("read the answer of %s: %w", serverOf(resp), err)
	}
	return nil
}

// serverOf returns the URL of the node that responded.
func serverOf(resp *http.Response) string {
	return resp.Request.URL.Scheme + "://" + resp.Request.URL.Host
}

// send returns the response of a successful request; the caller reads and closes it. It goes on to
// the next node only if there was no connection to the one before, so that no request is sent
// twice.
func (c *Client) send(ctx context.Context, method, path string) (*http.Response, error) {
	var unreachable []error
	for _, n := range c.nodes {
		resp, connected, err := n.send(ctx, method, path, c.token)
		if err == nil || connected {
			return resp, err
		}
		unreachable = append(unreachable, err)
		if ctx.Err() != nil {
			break
		}
	}
	if len(unreachable) == 1 {
		return nil, unreachable[0]
	}
	return nil, fmt.Errorf("none of %d addresses responds: %w", len(c.nodes), errors.Join(unreachable...))
}

// send sends a request to this node. connected is false if there was no connection, and so certainly
// no effect.
func (n *node) send(ctx context.Context, method, path, token string) (resp *http.Response, connected bool, err error) {
	var got atomic.Bool // set on a goroutine of the transport
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { got.Store(true) }})
	req, err := http.NewRequestWithContext(traced, method, n.server+path, nil)
	if err != nil {
		return nil, false, fmt.Errorf("make request: %w", err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err = n.http.Do(req)
	if err != nil {
		return nil, got.Load(), unreachable(n.server, err)
	}
	if resp.StatusCode/100 == 2 {
		return resp, true, nil
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes))
	if err != nil {
		return nil, true, fmt.Errorf("read the answer of %s: %w", n.server, err)
	}
	return nil, true, refusal(resp, content)
}

// unreachable returns one line that says why there was no response and what to check.
func unreachable(server string, err error) error {
	var certificate *tls.CertificateVerificationError
	var op *net.OpError
	var slow net.Error
	switch {
	case errors.As(err, &certificate):
		return fmt.Errorf("%s does not have the certificate that the kubeconfig expects (%w): is it a node of another cluster?",
			server, certificate.Err)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &slow) && slow.Timeout():
		return fmt.Errorf("%s does not answer in time: raise --timeout, or ask another node with --server", server)
	case errors.As(err, &op):
		return fmt.Errorf("%s cannot be reached (%w): is the node running?", server, op.Err)
	}
	return fmt.Errorf("ask %s: %w", server, err)
}

// refusal returns the message of an error response: that of its Status, or the first line of its
// text.
func refusal(resp *http.Response, content []byte) error {
	var status struct {
		Kind    string `json:"kind"`
		Message string `json:"message"`
	}
	if json.Unmarshal(content, &status) == nil && status.Kind == "Status" && status.Message != "" {
		return errors.New(status.Message)
	}
	if line := failedCheck(string(content)); line != "" {
		return fmt.Errorf("%s: %s", resp.Status, line)
	}
	return errors.New(resp.Status)
}

// failedCheck returns the line of a health report that names the failed check, else the first line.
func failedCheck(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, line := range lines {
		if strings.HasPrefix(line, "[-]") {
			return line
		}
	}
	return lines[0]
}
