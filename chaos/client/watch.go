package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

var (
	// ErrExpired reports a watch position that the node no longer has.
	ErrExpired = errors.New("watch position expired")
	// ErrRefused reports an answer to a watch that no correct server gives.
	ErrRefused = errors.New("watch refused")
)

// maxEventBytes bounds one line of a watch stream.
const maxEventBytes = 4 << 20

// Event is one change of a ConfigMap.
type Event struct {
	Type    string // ADDED, MODIFIED, DELETED, BOOKMARK
	Object  Object
	Version uint64
}

// Watch calls each with every event after a version, in order, until the stream ends or ctx is
// done; opened is called once the node has answered. It returns nil at a clean end of the stream.
func (c *Client) Watch(ctx context.Context, namespace string, after uint64, opened func(), each func(Event)) error {
	return c.watch(ctx, namespace, after, url.Values{}, opened, each)
}

func (c *Client) watch(ctx context.Context, namespace string, after uint64, query url.Values, opened func(), each func(Event)) error {
	query.Set("watch", "true")
	query.Set("allowWatchBookmarks", "true")
	query.Set("resourceVersion", strconv.FormatUint(after, 10))
	path := collection(namespace) + "?" + query.Encode()
	resp, _, _, err := c.send(ctx, JSON, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return refusedWatch(resp)
	}
	opened()
	lines := bufio.NewReaderSize(resp.Body, 64<<10)
	for {
		line, err := readLine(lines)
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil { // what came of the line is no event
			return fmt.Errorf("watch stream breaks off: %w", err)
		}
		event, err := parseEvent(line)
		if err != nil {
			return err
		}
		each(event)
	}
}

// readLine returns a whole line, or an error with what came of it.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > maxEventBytes {
			return line, fmt.Errorf("%w: an event of more than %d bytes", ErrRefused, maxEventBytes)
		}
	}
}

// refusedWatch is the error of an answer other than a stream.
func refusedWatch(resp *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxEventBytes))
	if err != nil {
		return fmt.Errorf("watch: answer %d breaks off: %w", resp.StatusCode, err)
	}
	outcome, flaw := outcomeOf(resp.StatusCode, resp.Header.Get("Content-Type"), text)
	return refusal(outcome, flaw, fmt.Sprintf("%d %.300s", resp.StatusCode, text))
}

// refusal is the error of an ERROR event.
func (s Status) refusal() error {
	outcome, flaw := s.outcome(s.Code)
	return refusal(outcome, flaw, fmt.Sprintf("%d %s", s.Code, s.Message))
}

// refusal sorts what a node says in place of events by what it means for a watch.
func refusal(outcome Outcome, flaw, text string) error {
	switch {
	case flaw != "":
		return fmt.Errorf("%w: %s: %s", ErrRefused, flaw, text)
	case outcome == Expired:
		return fmt.Errorf("%w: %s", ErrExpired, text)
	case outcome == Unavailable, outcome == Unknown:
		return fmt.Errorf("watch: %s", text)
	default:
		return fmt.Errorf("%w: %s", ErrRefused, text)
	}
}

func parseEvent(line []byte) (Event, error) {
	var frame struct {
		Type   string          `json:"type"`
		Object json.RawMessage `json:"object"`
	}
	if err := json.Unmarshal(line, &frame); err != nil {
		return Event{}, fmt.Errorf("%w: event %.300q: %w", ErrRefused, bytes.TrimSpace(line), err)
	}
	if frame.Type == "ERROR" {
		var status Status
		if err := json.Unmarshal(frame.Object, &status); err != nil {
			return Event{}, fmt.Errorf("%w: error event: %w", ErrRefused, err)
		}
		return Event{}, status.refusal()
	}
	var w wireObject
	if err := json.Unmarshal(frame.Object, &w); err != nil {
		return Event{}, fmt.Errorf("%w: event: %w", ErrRefused, err)
	}
	object, err := w.object()
	if err != nil {
		return Event{}, fmt.Errorf("%w: event: %w", ErrRefused, err)
	}
	return Event{Type: frame.Type, Object: object, Version: object.Version}, nil
}
