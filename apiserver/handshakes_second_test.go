package apiserver

import (
	"crypto/tls"
	"net"
	"testing"
)

// secondFlight is a client's connection that waits before its second write, which answers the
// server's first messages.
type secondFlight struct {
	net.Conn
	writes  int
	reached chan struct{}
	goOn    chan struct{}
}

func (c *secondFlight) Write(p []byte) (int, error) {
	if c.writes++; c.writes == 2 {
		close(c.reached)
		<-c.goOn
	}
	return c.Conn.Write(p)
}

// TestSecondFlightWaits: what the server computes after its first messages waits for its turn, too:
// the key exchange of TLS 1.2, and the proof of a client's certificate. A client that does not go
// on keeps nobody waiting.
func TestSecondFlightWaits(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		version     uint16
		certificate bool
	}{
		"key exchange of TLS 1.2":           {tls.VersionTLS12, false},
		"key exchange and certificate, 1.2": {tls.VersionTLS12, true},
		"certificate in TLS 1.3":            {tls.VersionTLS13, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := &tls.Config{MinVersion: tls.VersionTLS12}
			if tc.certificate {
				config.ClientAuth = tls.RequireAnyClientCert
			}
			s := startHandshakeServer(t, config)
			raw, err := net.Dial("tcp", s.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer raw.Close()
			conn := &secondFlight{Conn: raw, reached: make(chan struct{}), goOn: make(chan struct{})}
			client := tls.Client(conn, &tls.Config{
				InsecureSkipVerify: true, MaxVersion: tc.version, Certificates: config.Certificates,
			})
			ended := make(chan error, 1)
			go func() { ended <- client.Handshake() }()
			s.awaitTurn(conn.reached, conn.goOn, s.ended)
			for _, end := range []chan error{ended, s.ended} {
				if err := <-end; err != nil {
					t.Error(err)
				}
			}
			s.until("nothing is left", func() bool { return s.handshakes.Used() == 0 && s.handshakes.Waiters() == 0 })
		})
	}
}
