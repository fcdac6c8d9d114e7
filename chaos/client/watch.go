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

// Watch calls each with every event after a version, in order, until the stream ends or ctx is done; opened is called once
// the node has answered. It returns nil at a clean end of the stream.
func (c *Client) Watch(ctx context.Context, namespace string, after uint64, opened func(), each func(Event)) error {
	path := fmt.Sprintf("%s?watch=true&allowWatchBookmarks=true&resourceVersion=%d", collection(namespace), after)
	resp, _, _, err := c.send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return refusal(resp.StatusCode, fmt.Sprintf("watch after %d", after))
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

// refusal sorts an error status by what it means for a watch.
func refusal(code int, text string) error {
	switch outcomeOf(code) {
	case Expired:
		return fmt.Errorf("%w: %s", ErrExpired, text)
	case Refused, NotFound, Conflict:
		return fmt.Errorf("%w: %d %s", ErrRefused, code, text)
	default:
		return fmt.Errorf("watch: %d %s", code, text)
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
		var status struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		}
		if err := json.Unmarshal(frame.Object, &status); err != nil {
			return Event{}, fmt.Errorf("%w: error event: %w", ErrRefused, err)
		}
		return Event{}, refusal(status.Code, status.Message)
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
