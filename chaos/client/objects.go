package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

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

func collection(namespace string) string {
	return "/api/v1/namespaces/" + namespace + "/configmaps"
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
	content, err := json.Marshal(w)
	if err != nil {
		return Object{}, Refused, err
	}
	stored, _, outcome, err := c.object(ctx, method, path, content)
	return stored, outcome, err
}

// Get reads one ConfigMap by quorum.
func (c *Client) Get(ctx context.Context, namespace, name string) (Object, Outcome, error) {
	o, _, outcome, err := c.object(ctx, http.MethodGet, collection(namespace)+"/"+name, nil)
	return o, outcome, err
}

// CachedGet reads one ConfigMap from the node's own state, and tells the number of the connection
// by which the answer came. No two connections of a client have the same number.
func (c *Client) CachedGet(ctx context.Context, namespace, name string) (o Object, connection int, outcome Outcome, err error) {
	return c.object(ctx, http.MethodGet, collection(namespace)+"/"+name+"?resourceVersion=0", nil)
}

func (c *Client) object(ctx context.Context, method, path string, content []byte) (Object, int, Outcome, error) {
	a, err := c.exchange(ctx, method, path, content)
	if err != nil {
		return Object{}, a.connection, a.outcome, err
	}
	var w wireObject
	if err := json.Unmarshal(a.text, &w); err != nil {
		return Object{}, a.connection, Refused, fmt.Errorf("answer to %s %s: %w", method, path, err)
	}
	o, err := w.object()
	if err != nil {
		return Object{}, a.connection, Refused, fmt.Errorf("answer to %s %s: %w", method, path, err)
	}
	return o, a.connection, OK, nil
}

// Delete deletes a ConfigMap if it still has the given uid and version, and returns the uid in the
// response. Only watchers learn the version of a deletion.
func (c *Client) Delete(ctx context.Context, namespace string, o Object) (uid string, outcome Outcome, err error) {
	preconditions := map[string]string{"uid": o.UID, "resourceVersion": strconv.FormatUint(o.Version, 10)}
	content, err := json.Marshal(map[string]any{"preconditions": preconditions})
	if err != nil {
		return "", Refused, err
	}
	var status struct {
		Details struct {
			UID string `json:"uid"`
		} `json:"details"`
	}
	outcome, err = c.ask(ctx, http.MethodDelete, collection(namespace)+"/"+o.Name, content, &status)
	return status.Details.UID, outcome, err
}

// List reads all ConfigMaps of a namespace and the version of the list; query is "" for a quorum
// read or, say, "resourceVersion=0" for the node's own state.
func (c *Client) List(ctx context.Context, namespace, query string) ([]Object, uint64, Outcome, error) {
	page, outcome, err := c.Page(ctx, namespace, query)
	return page.Objects, page.Version, outcome, err
}

// Page is one answer to a list.
type Page struct {
	Objects    []Object
	Version    uint64
	Next       string // what continues the list; empty after the last page
	Connection int    // by which it came
}

// Page is List for a query that may ask for a part: "limit=500", "limit=500&continue=…".
func (c *Client) Page(ctx context.Context, namespace, query string) (Page, Outcome, error) {
	path := collection(namespace)
	if query != "" {
		path += "?" + query
	}
	a, err := c.exchange(ctx, http.MethodGet, path, nil)
	if err != nil {
		return Page{}, a.outcome, err
	}
	page, err := parsePage(a.text)
	if err != nil {
		return Page{}, Refused, fmt.Errorf("answer to a list: %w", err)
	}
	page.Connection = a.connection
	return page, OK, nil
}

func parsePage(text []byte) (Page, error) {
	var list wireList
	if err := json.Unmarshal(text, &list); err != nil {
		return Page{}, err
	}
	version, err := parseVersion(list.Metadata.ResourceVersion)
	if err != nil {
		return Page{}, err
	}
	page := Page{Objects: make([]Object, len(list.Items)), Version: version, Next: list.Metadata.Continue}
	for i := range list.Items {
		if page.Objects[i], err = list.Items[i].object(); err != nil {
			return Page{}, err
		}
	}
	return page, nil
}
