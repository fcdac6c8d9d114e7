// Package operator is the client of the operator's commands: it calls a node's API under
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
	"net/url"
	"strings"

	"quorate/apiserver/admin"
	"quorate/cmd/quorate/kubeconfig"
)

// maxAnswerBytes bounds the size of a response.
const maxAnswerBytes = 16 << 20

// Client calls one node.
type Client struct {
	http   *http.Client
	server string
	token  string
}

// New returns a client for the server of a kubeconfig.
func New(config kubeconfig.Config) (*Client, error) {
	server, err := url.Parse(config.Server)
	if err != nil || server.Scheme != "https" || server.Host == "" {
		return nil, fmt.Errorf("%q is no address of an API: want https://HOST:PORT", config.Server)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(config.CA) {
		return nil, errors.New("the kubeconfig has no certificate-authority-data")
	}
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: config.ServerName},
		ForceAttemptHTTP2: true,
	}
	return &Client{http: &http.Client{Transport: transport}, server: strings.TrimSuffix(config.Server, "/"), token: config.Token}, nil
}

// Close drops the connection.
func (c *Client) Close() { c.http.CloseIdleConnections() }

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
		return fmt.Errorf("read the answer of %s: %w", c.server, err)
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(content, answer); err != nil {
		return fmt.Errorf("read the answer of %s: %w", c.server, err)
	}
	return nil
}

// send returns the response of a successful request; the caller reads and closes it.
func (c *Client) send(ctx context.Context, method, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.server+path, nil)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(err)
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes))
	if err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", c.server, err)
	}
	return nil, refusal(resp, content)
}

// unreachable returns one line that says why there was no response and what to check.
func (c *Client) unreachable(err error) error {
	var certificate *tls.CertificateVerificationError
	var op *net.OpError
	switch {
	case errors.As(err, &certificate):
		return fmt.Errorf("%s does not have the certificate that the kubeconfig expects (%w): is it a node of another cluster?",
			c.server, certificate.Err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s does not answer in time: raise --timeout, or ask another node with --server", c.server)
	case errors.As(err, &op):
		return fmt.Errorf("%s cannot be reached (%w): is the node running?", c.server, op.Err)
	}
	return fmt.Errorf("ask %s: %w", c.server, err)
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
