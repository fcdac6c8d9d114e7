package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// ErrExpired reports a watch position that the node no longer has.
var ErrExpired = errors.New("watch position expired")

// maxEventBytes bounds one line of a watch stream.
const maxEventBytes = 4 << 20

// Event is one change of a ConfigMap.
type Event struct {
	Type    string // ADDED, MODIFIED, DELETED, BOOKMARK
	Object  Object
	Version uint64
}

// Watch calls each with every event after a version, in order, until the stream ends or ctx is done; opened is called once
// the node has answered. It returns nil at a clean end of the stream.
func (c *Client) Watch(ctx context.Context, namespace string, after uint64, opened func(), each func(Event)) error {
	path := fmt.Sprintf("%s?watch=true&allowWatchBookmarks=true&resourceVersion=%d", collection(namespace), after)
	req, err := c.request(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusGone {
		return ErrExpired
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("watch after %d: %s", after, resp.Status)
	}
	opened()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(make([]byte, 64<<10), maxEventBytes)
	for lines.Scan() {
		event, err := parseEvent(lines.Bytes())
		if err != nil {
			return err
		}
		each(event)
	}
	return lines.Err()
}

func parseEvent(line []byte) (Event, error) {
	var frame struct {
		Type   string          `json:"type"`
		Object json.RawMessage `json:"object"`
	}
	if err := json.Unmarshal(line, &frame); err != nil {
		return Event{}, fmt.Errorf("watch event: %w", err)
	}
	if frame.Type == "ERROR" {
		var status struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		}
		if err := json.Unmarshal(frame.Object, &status); err != nil {
			return Event{}, fmt.Errorf("watch error event: %w", err)
		}
		if status.Code == http.StatusGone {
			return Event{}, fmt.Errorf("%w: %s", ErrExpired, status.Message)
		}
		return Event{}, fmt.Errorf("watch error event: %d %s", status.Code, status.Message)
	}
	var w wireObject
	if err := json.Unmarshal(frame.Object, &w); err != nil {
		return Event{}, fmt.Errorf("watch event: %w", err)
	}
	object, err := w.object()
	if err != nil {
		return Event{}, err
	}
	return Event{Type: frame.Type, Object: object, Version: object.Version}, nil
}
