package solo

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Client sends requests of one user on connections of its own.
type Client struct {
	http   *http.Client
	server string
	token  string
}

// NewClient returns a client of a node that Start has started, maybe in another process.
func NewClient(server, token string) *Client {
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true,
	}
	return &Client{http: &http.Client{Transport: transport}, server: server, token: token}
}

// Client returns a client of a user of Config.Users.
func (n *Node) Client(user string) *Client { return NewClient(n.Server, Token(user)) }

// Do sends a request, reads the response and returns its code. A body is JSON unless header, a list
// of names and values, has a Content-Type.
func (c *Client) Do(ctx context.Context, method, path, body string, header ...string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.server+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// Open sends a GET and returns the response, whose body the caller must close. A code other than 200
// is an error.
func (c *Client) Open(ctx context.Context, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.server+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, &CodeError{Path: path, Code: resp.StatusCode}
	}
	return resp, nil
}

// CodeError is a response whose code is not 200.
type CodeError struct {
	Path string
	Code int
}

func (e *CodeError) Error() string { return fmt.Sprintf("GET %s: code %d", e.Path, e.Code) }

// Close closes the connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Create creates an object as an administrator.
func (n *Node) Create(ctx context.Context, path, body string) error {
	code, err := n.Admin.Do(ctx, http.MethodPost, path, body)
	if err == nil && code >= 300 {
		err = fmt.Errorf("POST %s: %d", path, code)
	}
	return err
}

// Bind binds the cluster role edit to users.
func (n *Node) Bind(ctx context.Context, users ...string) error {
	var subjects []string
	for _, user := range users {
		subjects = append(subjects, fmt.Sprintf(`{"kind":"User","name":%q}`, user))
	}
	return n.Create(ctx, "/apis/rbac.authorization.platform.io/v1/clusterrolebindings", fmt.Sprintf(
		`{"metadata":{"name":"experiment"},"roleRef":{"apiGroup":"rbac.authorization.platform.io","kind":"ClusterRole","name":"edit"},"subjects":[%s]}`,
		strings.Join(subjects, ",")))
}
