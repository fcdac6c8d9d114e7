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
	Alive        bool   `json:"alive"`
	AppliedIndex uint64 `json:"appliedIndex"`
	LastIndex    uint64 `json:"lastIndex"`
}

// Members asks the node who is in the cluster.
func (c *Client) Members(ctx context.Context) ([]Member, error) {
	var list struct {
		Members []Member `json:"members"`
	}
	_, err := c.ask(ctx, http.MethodGet, "/cluster/v1/members", nil, &list)
	return list.Members, err
}

// Checksums says what the states of all nodes sum up to after one entry of the log. They must be
// equal.
type Checksums struct {
	Index uint64     `json:"index"`
	Nodes []Checksum `json:"nodes"`
	// Diverged are the nodes whose state is another than that of most.
	Diverged []string `json:"diverged"`
}

// Checksum is that of one node; it is empty where Problem says why it isn't known.
type Checksum struct {
	Name     string `json:"name"`
	Checksum string `json:"checksum,omitempty"`
	Problem  string `json:"problem,omitempty"`
}

// Checksums makes all nodes sum up their states after one write.
func (c *Client) Checksums(ctx context.Context) (Checksums, error) {
	var sums Checksums
	_, err := c.ask(ctx, http.MethodPost, "/cluster/v1/checksum", nil, &sums)
	return sums, err
}

// Ready reports whether the node calls itself ready.
func (c *Client) Ready(ctx context.Context) bool {
	outcome, _, _ := c.do(ctx, http.MethodGet, "/readyz", nil)
	return outcome == OK
}

// EnsureNamespace creates a namespace, or finds it there.
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

// DeleteNamespace asks that a namespace goes, with all that is below it. One that isn't there is
// gone.
func (c *Client) DeleteNamespace(ctx context.Context, name string) (Outcome, error) {
	outcome, _, err := c.do(ctx, http.MethodDelete, "/api/v1/namespaces/"+name, nil)
	if outcome == NotFound || outcome == Conflict { // it goes already
		return OK, nil
	}
	return outcome, err
}

// ask sends one request and decodes the answer into what answer points to.
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
