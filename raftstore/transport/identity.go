package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// The protocols of the peer address, as negotiated by ALPN.
const (
	ProtocolRaft    = "quorate-raft"
	ProtocolGRPC    = "h2"
	protocolStreams = "quorate-streams/1"
	protocolCalls   = "quorate-calls/1"
	protocolAppends = "quorate-appends/1"
)

// protocols returns all protocols that a node offers.
func protocols() []string {
	return []string{ProtocolRaft, ProtocolGRPC, protocolStreams, protocolCalls, protocolAppends}
}

const (
	peerScheme = "quorate"
	peerHost   = "peer"
)

// ErrNotAPeer reports a certificate of the cluster's authority that names no peer, for example a
// client's.
var ErrNotAPeer = errors.New("certificate names no peer")

// PeerURI returns the URI that a peer's certificate has as subject alternative name.
func PeerURI(name string) *url.URL {
	return &url.URL{Scheme: peerScheme, Host: peerHost, Path: "/" + name}
}

// NameOf returns the node name in a peer's certificate, or ErrNotAPeer.
func NameOf(cert *x509.Certificate) (string, error) {
	for _, uri := range cert.URIs {
		if uri.Scheme == peerScheme && uri.Host == peerHost {
			if name := strings.TrimPrefix(uri.Path, "/"); name != "" && !strings.Contains(name, "/") {
				return name, nil
			}
		}
	}
	return "", ErrNotAPeer
}

// serverTLS returns the configuration of the listening side: a client must present a certificate of
// the cluster's authority that names a peer.
func serverTLS(base *tls.Config) *tls.Config {
	cfg := base.Clone()
	cfg.MinVersion = tls.VersionTLS13
	cfg.NextProtos = protocols()
	cfg.GetConfigForClient = recordHello
	cfg.ClientCAs = base.RootCAs
	cfg.ClientAuth = tls.RequireAnyClientCert // verified below, by the same rules as when dialling
	cfg.VerifyConnection = func(state tls.ConnectionState) error {
		return verifyPeer(state, base.RootCAs, x509.ExtKeyUsageClientAuth)
	}
	return cfg
}

// clientTLS returns the configuration of the dialling side for one protocol.
func clientTLS(base *tls.Config, protocol string) *tls.Config {
	cfg := base.Clone()
	cfg.MinVersion = tls.VersionTLS13
	cfg.NextProtos = []string{protocol}
	cfg.InsecureSkipVerify = true // verifyPeer replaces the check of the host name
	cfg.ClientSessionCache = nil
	cfg.VerifyConnection = func(state tls.ConnectionState) error {
		return verifyPeer(state, base.RootCAs, x509.ExtKeyUsageServerAuth)
	}
	return cfg
}

// verifyPeer checks the chain of the other side's certificate against the cluster's authority, and
// that the certificate names a peer.
func verifyPeer(state tls.ConnectionState, roots *x509.CertPool, usage x509.ExtKeyUsage) error {
	if len(state.PeerCertificates) == 0 {
		return errors.New("no certificate presented")
	}
	leaf := state.PeerCertificates[0]
	intermediates := x509.NewCertPool()
	for _, cert := range state.PeerCertificates[1:] {
		intermediates.AddCert(cert)
	}
	_, err := leaf.Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: intermediates, KeyUsages: []x509.ExtKeyUsage{usage},
	})
	if err != nil {
		return fmt.Errorf("verify peer certificate: %w", err)
	}
	_, err = NameOf(leaf)
	return err
}

// reason returns why a handshake failed, in words for an operator.
func reason(err error) string {
	var authority x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var remote *net.OpError
	switch {
	case errors.As(err, &authority):
		return "certificate signed by another cluster key"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "certificate expired or not yet valid; compare the clocks of both nodes"
	case errors.Is(err, ErrNotAPeer):
		return "certificate names no peer"
	case errors.As(err, &remote) && remote.Op == "remote error":
		return "the other side refused this node: " + remote.Err.Error()
	default:
		return err.Error()
	}
}
