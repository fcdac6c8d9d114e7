package servers

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// Get returns what a node of the cluster responds with at a path, as an administrator. Nodes count
// from 0.
func (c *Cluster) Get(ctx context.Context, node int, path string) ([]byte, error) {
	return c.request(ctx, http.MethodGet, node, path)
}

// Post makes a node of the cluster perform an operation, as an administrator.
func (c *Cluster) Post(ctx context.Context, node int, path string) error {
	_, err := c.request(ctx, http.MethodPost, node, path)
	return err
}

func (c *Cluster) request(ctx context.Context, method string, node int, path string) ([]byte, error) {
	ca, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, err
	}
	token, err := os.ReadFile(c.TokenFile)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, c.Endpoints[node]+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s %s: %s: %.200s", method, path, resp.Status, content)
	}
	return content, nil
}
