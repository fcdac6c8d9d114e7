package transport_test

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"quorate/raftstore/testcluster"
	"quorate/raftstore/transport"
)

// TestStalledWrite checks that a write to a peer that does not read fails at its deadline. When the
// writer then closes the connection and the peer reads again, the peer must see the end of the
// connection, not a record that seems forged.
func TestStalledWrite(t *testing.T) {
	authority := testcluster.NewAuthority(t)
	server, _ := listen(t, authority.Peer(t, "server"), 0)
	client, _ := listen(t, authority.Peer(t, "client"), 0)
	for _, tc := range []struct {
		name string
		ends func(dialled, accepted net.Conn) (writer, reader net.Conn)
		stop func(t *testing.T, c net.Conn)
	}{
		{"of the node that dialled, of no byte", byDialler, expire},
		{"of the node that dialled, within a record", byDialler, stall},
		{"of the node that accepted, of no byte", byAcceptor, expire},
		{"of the node that accepted, within a record", byAcceptor, stall},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dialled, err := client.Dial(t.Context(), "server", server.Addr().String(), transport.ProtocolRaft)
			if err != nil {
				t.Fatal(err)
			}
			defer dialled.Close()
			accepted, err := server.AcceptRaft()
			if err != nil {
				t.Fatal(err)
			}
			defer accepted.Close()
			writer, reader := tc.ends(dialled, accepted)
			tc.stop(t, writer)
			read := make(chan error, 1)
			go func() {
				_, err := io.Copy(io.Discard, reader) // makes room for what Close would send
				read <- err
			}()
			_ = writer.Close() // it may say that the socket is closed already
			if err := <-read; err != nil && (strings.Contains(err.Error(), "MAC") || strings.Contains(err.Error(), "tls:")) {
				t.Errorf("the reader sees %v", err)
			}
		})
	}
}

func byDialler(dialled, accepted net.Conn) (writer, reader net.Conn)  { return dialled, accepted }
func byAcceptor(dialled, accepted net.Conn) (writer, reader net.Conn) { return accepted, dialled }

// expire writes when the deadline has passed already, as it does for a record that follows a
// stalled one: nothing of it is sent.
func expire(t *testing.T, c net.Conn) {
	t.Helper()
	if err := c.SetWriteDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
}

// stall writes until a write fails at its deadline, because nobody reads.
func stall(t *testing.T, c net.Conn) {
	t.Helper()
	block := make([]byte, 64<<10)
	for {
		if err := c.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write(block); err != nil {
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal(err)
			}
			return
		}
	}
}
