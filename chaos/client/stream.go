package client

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// ErrForbidden reports that the user of a request may not do what it asks for.
var ErrForbidden = errors.New("forbidden")

// Media types that a request can ask for.
const (
	JSON     = "application/json"
	Protobuf = "application/vnd.platform.protobuf"
	// Partial asks for the metadata of objects, and Table for rows.
	Partial = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
	Table   = "application/json;as=Table;v=v1;g=meta.k8s.io"
)

// Request is one request in the words of the API.
type Request struct {
	Method      string // empty: GET
	Path        string // with the query
	Accept      string // empty: JSON
	ContentType string // of the body; empty: JSON
	Body        []byte
	User        string // to act as; empty: the owner of the token
}

// Notice is one event of a watch.
type Notice struct {
	Type   string // ADDED, MODIFIED, DELETED, BOOKMARK
	Object Resource
}

// Stream calls each with every event of a watch, in order, until the stream ends or ctx is done. It
// calls opened with the number of the connection when the node has accepted the watch. It returns
// nil if the stream ends cleanly. The error is ErrForbidden for 403, ErrExpired for a version that
// is too old, and ErrRefused for a response that no correct server sends.
func (c *Client) Stream(ctx context.Context, r Request, opened func(connection int), each func(Notice)) error {
	resp, connection, _, err := c.request(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusForbidden {
		return fmt.Errorf("%s: %w", r.Path, ErrForbidden)
	}
	if resp.StatusCode != http.StatusOK {
		return refusedWatch(resp)
	}
	opened(connection)
	next := readLine
	parse := parseNotice
	if strings.HasPrefix(resp.Header.Get("Content-Type"), Protobuf) {
		next, parse = readFrame, parseProtobufNotice
	}
	frames := bufio.NewReaderSize(resp.Body, 4<<10)
	for {
		frame, err := next(frames)
		if errors.Is(err, io.EOF) && len(frame) == 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("watch stream breaks off: %w", err)
		}
		notice, err := parse(frame)
		if err != nil {
			return err
		}
		each(notice)
	}
}

// readFrame returns one frame of a protobuf stream: its length in four bytes, and its content.
func readFrame(r *bufio.Reader) (frame []byte, err error) {
	var head [4]byte
	if n, err := io.ReadFull(r, head[:]); err != nil {
		return head[:n], err // nothing, at the end of the stream
	}
	length := binary.BigEndian.Uint32(head[:])
	if length > maxEventBytes {
		return head[:], fmt.Errorf("%w: an event of %d bytes", ErrRefused, length)
	}
	frame = make([]byte, length)
	if _, err = io.ReadFull(r, frame); err != nil {
		return head[:], err
	}
	return frame, nil
}

// Do sends a request and decodes the object, list or Status in the response. The error describes
// any outcome other than OK.
func (c *Client) Do(ctx context.Context, r Request) (Resource, Outcome, error) {
	resp, _, outcome, err := c.request(ctx, r)
	if err != nil {
		return Resource{}, outcome, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes))
	if err != nil {
		return Resource{}, Unknown, fmt.Errorf("%s: answer %d breaks off: %w", r.Path, resp.StatusCode, err)
	}
	outcome, flaw := outcomeOf(resp.StatusCode, resp.Header.Get("Content-Type"), text)
	if outcome != OK {
		return Resource{}, outcome, errorOf(outcome, flaw, r.Method+" "+r.Path, resp.StatusCode, text)
	}
	o, err := parseResource(text)
	if err != nil {
		return Resource{}, Refused, fmt.Errorf("answer to %s %s: %w", r.Method, r.Path, err)
	}
	return o, OK, nil
}

// request sends a request as send does.
func (c *Client) request(ctx context.Context, r Request) (*http.Response, int, Outcome, error) {
	if r.Method == "" {
		r.Method = http.MethodGet
	}
	set := http.Header{}
	for name, value := range map[string]string{"Accept": r.Accept, "Content-Type": r.ContentType, "Impersonate-User": r.User} {
		if value != "" {
			set.Set(name, value)
		}
	}
	return c.sendWith(ctx, r.Method, r.Path, r.Body, set)
}
