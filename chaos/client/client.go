package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Outcome is what a client knows of a request after it.
type Outcome int

// The outcomes. Unknown covers everything that may have happened: a broken connection, a 504, a time-out.
const (
	OK Outcome = iota
	NotFound
	Conflict    // another version, or the name is taken
	Unavailable // surely not applied
	Unknown
	Refused // any other 4xx: a bug in the run or in the server
)

func (o Outcome) String() string {
	return [...]string{"ok", "not found", "conflict", "unavailable", "unknown", "refused"}[o]
}

// maxAnswerBytes bounds what is read of one answer: a list of a whole run fits.
const maxAnswerBytes = 512 << 20

// Credentials open one cluster's API.
type Credentials struct {
	CA    []byte // PEM
	Token string
}

// Client talks to one node.
type Client struct {
	base  string
	token string
	http  *http.Client
}

// New returns a client of the node at base, "https://host:port".
func New(base string, c Credentials) (*Client, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(c.CA) {
		return nil, errors.New("no certificate in the cluster's CA file")
	}
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: 5 * time.Second,
		// A killed container leaves connections that nobody resets: find out by asking.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 2 * time.Second, PingTimeout: 2 * time.Second},
	}
	return &Client{base: base, token: c.Token, http: &http.Client{Transport: transport}}, nil
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Object is a ConfigMap as runs use it.
type Object struct {
	Name    string
	Version uint64
	UID     string
	Data    map[string]string
}

type wireMeta struct {
	Name            string `json:"name,omitempty"`
	Namespace       string `json:"namespace,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	UID             string `json:"uid,omitempty"`
	Continue        string `json:"continue,omitempty"`
}

type wireObject struct {
	Kind       string            `json:"kind,omitempty"`
	APIVersion string            `json:"apiVersion,omitempty"`
	Metadata   wireMeta          `json:"metadata"`
	Data       map[string]string `json:"data,omitempty"`
}

type wireList struct {
	Metadata wireMeta     `json:"metadata"`
	Items    []wireObject `json:"items"`
}

func (w *wireObject) object() (Object, error) {
	version, err := parseVersion(w.Metadata.ResourceVersion)
	return Object{Name: w.Metadata.Name, Version: version, UID: w.Metadata.UID, Data: w.Data}, err
}

func parseVersion(s string) (uint64, error) {
	version, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("resourceVersion %q is no number", s)
	}
	return version, nil
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

// Create stores a new ConfigMap.
func (c *Client) Create(ctx context.Context, namespace, name string, data map[string]string) (Object, Outcome, error) {
	return c.write(ctx, http.MethodPost, collection(namespace), namespace, Object{Name: name, Data: data})
}

// Replace stores o over the version it carries.
func (c *Client) Replace(ctx context.Context, namespace string, o Object) (Object, Outcome, error) {
	return c.write(ctx, http.MethodPut, collection(namespace)+"/"+o.Name, namespace, o)
}

func (c *Client) write(ctx context.Context, method, path, namespace string, o Object) (Object, Outcome, error) {
	w := wireObject{Kind: "ConfigMap", APIVersion: "v1", Metadata: wireMeta{Name: o.Name, Namespace: namespace, UID: o.UID}, Data: o.Data}
	if o.Version != 0 {
		w.Metadata.ResourceVersion = strconv.FormatUint(o.Version, 10)
	}
	body, err := json.Marshal(w)
	if err != nil {
		return Object{}, Refused, err
	}
	return c.object(ctx, method, path, body)
}

// Get reads one ConfigMap by quorum.
func (c *Client) Get(ctx context.Context, namespace, name string) (Object, Outcome, error) {
	return c.object(ctx, http.MethodGet, collection(namespace)+"/"+name, nil)
}

func (c *Client) object(ctx context.Context, method, path string, body []byte) (Object, Outcome, error) {
	outcome, answer, err := c.do(ctx, method, path, body)
	if outcome != OK {
		return Object{}, outcome, err
	}
	var w wireObject
	if err := json.Unmarshal(answer, &w); err != nil {
		return Object{}, Unknown, fmt.Errorf("%s %s: %w", method, path, err)
	}
	o, err := w.object()
	if err != nil {
		return Object{}, Refused, fmt.Errorf("%s %s: %w", method, path, err)
	}
	return o, OK, nil
}

// Delete removes a ConfigMap if it is still the given one, uid and version.
func (c *Client) Delete(ctx context.Context, namespace string, o Object) (Outcome, error) {
	preconditions := map[string]string{"uid": o.UID, "resourceVersion": strconv.FormatUint(o.Version, 10)}
	body, err := json.Marshal(map[string]any{"preconditions": preconditions})
	if err != nil {
		return Refused, err
	}
	outcome, _, err := c.do(ctx, http.MethodDelete, collection(namespace)+"/"+o.Name, body)
	return outcome, err
}

// List reads all ConfigMaps of a namespace and the version of the list; query is "" for a quorum read or, say,
// "resourceVersion=0" for the node's own state.
func (c *Client) List(ctx context.Context, namespace, query string) ([]Object, uint64, Outcome, error) {
	page, outcome, err := c.Page(ctx, namespace, query)
	return page.Objects, page.Version, outcome, err
}

// Page is one answer to a list.
type Page struct {
	Objects []Object
	Version uint64
	Next    string // what continues the list; empty after the last page
}

// Page is List for a query that may ask for a part: "limit=500", "limit=500&continue=…".
func (c *Client) Page(ctx context.Context, namespace, query string) (Page, Outcome, error) {
	path := collection(namespace)
	if query != "" {
		path += "?" + query
	}
	outcome, answer, err := c.do(ctx, http.MethodGet, path, nil)
	if outcome != OK {
		return Page{}, outcome, err
	}
	var list wireList
	if err := json.Unmarshal(answer, &list); err != nil {
		return Page{}, Unknown, fmt.Errorf("list: %w", err)
	}
	version, err := parseVersion(list.Metadata.ResourceVersion)
	if err != nil {
		return Page{}, Refused, err
	}
	objects := make([]Object, len(list.Items))
	for i := range list.Items {
		if objects[i], err = list.Items[i].object(); err != nil {
			return Page{}, Refused, err
		}
	}
	return Page{objects, version, list.Metadata.Continue}, OK, nil
}

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
	_, answer, err := c.do(ctx, http.MethodGet, "/cluster/v1/members", nil)
	if err != nil {
		return nil, err
	}
	var list struct {
		Members []Member `json:"members"`
	}
	if err := json.Unmarshal(answer, &list); err != nil {
		return nil, fmt.Errorf("members: %w", err)
	}
	return list.Members, nil
}

// Ready reports whether the node calls itself ready.
func (c *Client) Ready(ctx context.Context) bool {
	outcome, _, _ := c.do(ctx, http.MethodGet, "/readyz", nil)
	return outcome == OK
}

func collection(namespace string) string {
	return "/api/v1/namespaces/" + namespace + "/configmaps"
}

// do sends one request and reads the whole answer. The error says more about any outcome but OK.
func (c *Client) do(ctx context.Context, method, path string, body []byte) (Outcome, []byte, error) {
	req, err := c.request(ctx, method, path, body)
	if err != nil {
		return Refused, nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return unsent(err), nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes))
	if err != nil {
		return Unknown, nil, err
	}
	if resp.StatusCode/100 == 2 {
		return OK, answer, nil
	}
	return outcomeOf(resp.StatusCode), answer, fmt.Errorf("%s %s: %d %.300s", method, path, resp.StatusCode, answer)
}

// unsent tells a request that never left from one that may have arrived.
func unsent(err error) Outcome {
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return Unavailable
	}
	return Unknown
}

func (c *Client) request(ctx context.Context, method, path string, body []byte) (*http.Request, error) {
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, reader)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

func outcomeOf(code int) Outcome {
	switch {
	case code == http.StatusNotFound:
		return NotFound
	case code == http.StatusConflict:
		return Conflict
	case code == http.StatusServiceUnavailable, code == http.StatusTooManyRequests:
		return Unavailable
	case code >= 500:
		return Unknown
	default:
		return Refused
	}
}
