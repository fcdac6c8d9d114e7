package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// Fetch requests a path in the representation that accept names, and returns the body. The error
// describes any outcome other than OK.
func (c *Client) Fetch(ctx context.Context, accept, path string) ([]byte, Outcome, error) {
	a, err := c.exchangeAs(ctx, accept, http.MethodGet, path, nil)
	return a.text, a.outcome, err
}

// Collection is the path of a namespace's ConfigMaps.
func Collection(namespace string) string { return collection(namespace) }

// WatchFor is Watch for so many seconds at most: a node then ends the stream in order.
func (c *Client) WatchFor(ctx context.Context, namespace string, after uint64, seconds int, each func(Event)) error {
	query := url.Values{"timeoutSeconds": {fmt.Sprint(seconds)}}
	return c.watch(ctx, namespace, after, query, func() {}, each)
}
