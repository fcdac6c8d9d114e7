package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// Member is a node as the cluster sees it.
type Member struct {
	Name         string `json:"name"`
	Role         string `json:"role"`
	Term         uint64 `json:"term"`
	Alive        *bool  `json:"alive"` // nil if it did not respond, and gossip has not found it dead yet
	AppliedIndex uint64 `json:"appliedIndex"`
	LastIndex    uint64 `json:"lastIndex"`
}

// IsAlive reports whether the member responded.
func (m *Member) IsAlive() bool { return m.Alive != nil && *m.Alive }

// IsDead reports whether gossip has found the member dead.
func (m *Member) IsDead() bool { return m.Alive != nil && !*m.Alive }

// Members returns the members of the cluster as the node sees them.
func (c *Client) Members(ctx context.Context) ([]Member, error) {
	var list struct {
		Members []Member `json:"members"`
	}
	_, err := c.ask(ctx, http.MethodGet, "/cluster/v1/members", nil, &list)
	return list.Members, err
}

// Checksums contains the checksums of the states of all nodes after one log entry. They must be
// equal.
type Checksums struct {
	Index uint64     `json:"index"`
	Nodes []Checksum `json:"nodes"`
	// Diverged are the nodes whose state differs from that of most nodes.
	Diverged []string `json:"diverged"`
}

// Checksum is the checksum of one node's state. If it is empty, Problem says why it is unknown.
type Checksum struct {
	Name     string `json:"name"`
	Checksum string `json:"checksum,omitempty"`
	Problem  string `json:"problem,omitempty"`
}

// Checksums makes all nodes compute the checksums of their states after one write.
func (c *Client) Checksums(ctx context.Context) (Checksums, error) {
	var sums Checksums
	_, err := c.ask(ctx, http.MethodPost, "/cluster/v1/checksum", nil, &sums)
	return sums, err
}

// Ready reports whether the node reports that it is ready.
func (c *Client) Ready(ctx context.Context) bool {
	outcome, _, _ := c.do(ctx, http.MethodGet, "/readyz", nil)
	return outcome == OK
}

// EnsureNamespace creates a namespace unless it exists.
func (c *Client) EnsureNamespace(ctx context.Context, name string) (Outcome, error) {
	body, err := json.Marshal(wireObject{Kind: "Namespace", APIVersion: "v1", Metadata: wireMeta{Name: name}})
	if err != nil {
		return Refused, err
	}
	outcome, _, err := c.do(ctx, http.MethodPost, "/api/v1/namespaces", body)
	if outcome == Conflict {
		return OK, nil
	}
	return outcome, err
}

// DeleteNamespace requests the deletion of a namespace with all its objects. A missing namespace
// counts as deleted.
func (c *Client) DeleteNamespace(ctx context.Context, name string) (Outcome, error) {
	outcome, _, err := c.do(ctx, http.MethodDelete, "/api/v1/namespaces/"+name, nil)
	if outcome == NotFound || outcome == Conflict { // it goes already
		return OK, nil
	}
	return outcome, err
}

// ask sends one request and decodes the response into the value that answer points to.
func (c *Client) ask(ctx context.Context, method, path string, body []byte, answer any) (Outcome, error) {
	outcome, text, err := c.do(ctx, method, path, body)
	if outcome != OK {
		return outcome, err
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return Refused, fmt.Errorf("answer to %s %s: %w", method, path, err)
	}
	return OK, nil
}
