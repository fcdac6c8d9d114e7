package direct

import (
	"context"
	"errors"
	"net"
	"testing"

	"quorate/proto/peerpb"
)

// A transport closes a connection itself when a write on it has failed.
func TestCloseOfAClosedConnection(t *testing.T) {
	t.Parallel()
	n := startNode(t, service{readIndex: echo})
	var dialed net.Conn
	conn := NewConn(func(ctx context.Context, p Protocol) (_ net.Conn, err error) {
		dialed, err = n.dial(ctx, p)
		return dialed, err
	}, noFallback{}, func() {})
	if _, err := index(t.Context(), peerpb.NewStoreClient(conn), 1); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(dialed.Close(), conn.Close()); err != nil {
		t.Error(err)
	}
}
