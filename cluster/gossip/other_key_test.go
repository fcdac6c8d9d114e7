package gossip_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// sealed returns a message in memberlist's format, encrypted with a key.
func sealed(t *testing.T, key byte, plain string, authenticated []byte) []byte {
	t.Helper()
	block, err := aes.NewCipher(bytes.Repeat([]byte{key}, 32))
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	nonce := make([]byte, aead.NonceSize())
	return aead.Seal(append([]byte{1}, nonce...), nonce, []byte(plain), authenticated)
}

// stream returns a message as it is sent on a connection.
func stream(t *testing.T, key byte, plain string) []byte {
	t.Helper()
	const overhead = 1 + 12 + 16 // version, nonce, tag
	head := binary.BigEndian.AppendUint32([]byte{10}, uint32(overhead+len(plain)))
	return append(head, sealed(t, key, plain, head)...)
}

// text is a log.
type text struct {
	mu      sync.Mutex
	written strings.Builder
}

func (l *text) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.written.Write(p)
}

func (l *text) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.written.String()
}

// TestOtherKey: a node reports packets and connections with another cluster key by itself, and
// keeps them from memberlist, whose log says nothing of them.
func TestOtherKey(t *testing.T) {
	var log text
	runLogged(t, attackHost(70), &log)
	udp, err := net.Dial("udp", attackHost(70)+":7947")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	if _, err := udp.Write(sealed(t, 8, "ping", nil)); err != nil {
		t.Fatal(err)
	}
	conn := dialFrom(t, attackHost(71), attackHost(70)+":7947")
	if _, err := conn.Write(stream(t, 8, "state")); err != nil {
		t.Fatal(err)
	}
	if response, err := io.ReadAll(conn); err != nil || len(response) > 0 {
		t.Errorf("the response is %q, %v; want the end of the connection", response, err)
	}
	want := "refused: encrypted with another cluster key"
	deadline := time.After(time.Minute)
	for strings.Count(log.String(), want) < 2 {
		select {
		case <-deadline:
			t.Fatalf("the log is %s", log.String())
		case <-time.After(time.Millisecond):
		}
	}
	if got := log.String(); strings.Contains(got, "decrypt") {
		t.Errorf("memberlist got a message with another key: %s", got)
	}
	// A message with the node's own key reaches memberlist, which has no such type.
	own := dialFrom(t, attackHost(71), attackHost(70)+":7947")
	if _, err := own.Write(stream(t, 7, "\xc8")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(own); err != nil && !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if got := log.String(); !strings.Contains(got, "invalid msgType (200)") {
		t.Errorf("memberlist did not get a message with this node's key: %s", got)
	}
}
