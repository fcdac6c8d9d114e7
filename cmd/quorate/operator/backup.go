package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// errSilent is the cause of a transfer that was cancelled.
var errSilent = errors.New("no data arrived for too long")

// Backup streams a backup of the whole state from the node to read. The total duration is not
// bounded, but Backup fails if patience passes while it waits for the response, or for the next
// bytes of it. The time that read takes for other things, such as a slow disk, does not count. The
// caller must verify the stream with package backup, because only that package detects a truncated
// one.
func (c *Client) Backup(ctx context.Context, patience time.Duration, read func(io.Reader) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(patience, func() { cancel(errSilent) })
	defer silence.Stop()
	resp, err := c.send(ctx, http.MethodGet, "/cluster/v1/backup")
	if err != nil {
		return silent(ctx, c.nodes[0].server, err)
	}
	defer resp.Body.Close()
	silence.Stop()
	from := reader(func(p []byte) (int, error) {
		silence.Reset(patience)
		n, err := resp.Body.Read(p)
		silence.Stop()
		if err != nil && !errors.Is(err, io.EOF) {
			err = silent(ctx, serverOf(resp), fmt.Errorf("%s interrupted the backup: %w", serverOf(resp), err))
		}
		return n, err
	})
	return read(from)
}

// silent returns a timeout as the cause of err if the transfer was cancelled for errSilent.
func silent(ctx context.Context, server string, err error) error {
	if errors.Is(context.Cause(ctx), errSilent) {
		return unreachable(server, context.DeadlineExceeded)
	}
	return err
}

// reader is a function that implements io.Reader.
type reader func(p []byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }
