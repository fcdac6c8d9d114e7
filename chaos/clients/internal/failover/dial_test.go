package failover_test

import (
	"net"
	"testing"

	utilnet "k8s.io/apimachinery/pkg/util/net"

	"quorate/chaos/clients/internal/failover"
)

// listen returns an address that accepts connections; after stop it refuses them.
func listen(t *testing.T) (address string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // a second time after stop
	return l.Addr().String(), func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestDialTakesTheFirstThatAccepts(t *testing.T) {
	t.Parallel()
	first, stopFirst := listen(t)
	second, stopSecond := listen(t)
	dial := failover.Dial(first, second)
	want := func(address string) {
		t.Helper()
		conn, err := dial(t.Context(), "tcp", "nowhere.invalid:6443")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if got := conn.RemoteAddr().String(); got != address {
			t.Errorf("connected to %s, want %s", got, address)
		}
	}
	want(first)
	stopFirst()
	want(second)
	stopSecond()
	// Informers go on watching where they were after this error, and list anew after others.
	if _, err := dial(t.Context(), "tcp", "nowhere.invalid:6443"); !utilnet.IsConnectionRefused(err) {
		t.Errorf("with no node left: %v", err)
	}
}
