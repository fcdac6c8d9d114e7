package keys

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

const (
	peerScheme   = "quorate"
	peerHost     = "peer"
	peerIDsQuery = "id"
)

// Peer is the node that a peer certificate names.
type Peer struct {
	Name   string
	NodeID string // distinguishes the node from another of the same name
}

// PeerConfig is the content of a node's peer certificate, and the rule for its peers.
type PeerConfig struct {
	Self Peer
	// Admit, if not nil, may refuse a node whose certificate is valid, for instance because the
	// node uses the name of another one. It is called in every handshake, on the goroutine of the
	// handshake; its error ends the connection.
	Admit func(Peer) error
}

// PeerTLS makes the TLS configurations of a node's peer port: TLS 1.3, certificates on both sides,
// renewed without a restart.
type PeerTLS struct {
	authority *Authority
	admit     func(Peer) error
	leaf      *leaf
}

// PeerTLS issues this node's peer certificate.
func (a *Authority) PeerTLS(c PeerConfig) (*PeerTLS, error) {
	l, err := newLeaf(a, &x509.Certificate{
		Subject:     pkix.Name{CommonName: c.Self.Name},
		URIs:        []*url.URL{peerURI(c.Self)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return nil, fmt.Errorf("issue the peer certificate: %w", err)
	}
	admit := c.Admit
	if admit == nil {
		admit = func(Peer) error { return nil }
	}
	return &PeerTLS{authority: a, admit: admit, leaf: l}, nil
}

// Config returns the configuration for the listener and for dialling any node. The caller sets
// NextProtos. VerifyPeerCertificate verifies the certificate of the other side, that it names a
// node, and that Admit accepts the node; it ignores host names and addresses. Sessions are never
// resumed, so it runs for every connection.
func (p *PeerTLS) Config() *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		RootCAs:                p.authority.pool,
		ClientCAs:              p.authority.pool,
		GetCertificate:         p.leaf.serve,
		GetClientCertificate:   p.leaf.present,
		SessionTicketsDisabled: true,
		// The standard verification is by host name, and its errors help an operator little. verify
		// replaces it on both sides.
		ClientAuth:         tls.RequireAnyClientCert,
		InsecureSkipVerify: true,
		VerifyPeerCertificate: func(raw [][]byte, _ [][]*x509.Certificate) error {
			return p.verify(raw)
		},
	}
}

func (p *PeerTLS) verify(raw [][]byte) error {
	if len(raw) == 0 {
		return errors.New("peer refused: it sent no certificate")
	}
	certificate, err := x509.ParseCertificate(raw[0])
	if err != nil {
		return fmt.Errorf("peer refused: %w", err)
	}
	usages := []x509.ExtKeyUsage{x509.ExtKeyUsageAny}
	if _, err := certificate.Verify(x509.VerifyOptions{Roots: p.authority.pool, KeyUsages: usages}); err != nil {
		if unknown := (x509.UnknownAuthorityError{}); errors.As(err, &unknown) {
			return fmt.Errorf("peer refused: its certificate comes from another cluster key (%w)", err)
		}
		return fmt.Errorf("peer refused: %w", err)
	}
	peer, ok := PeerOf(certificate)
	if !ok {
		return fmt.Errorf("peer refused: the certificate of %q is not a node's", certificate.Subject.CommonName)
	}
	if err := p.admit(peer); err != nil {
		return fmt.Errorf("peer refused: %w", err)
	}
	return nil
}

// PeerOf returns the node that a peer certificate names; false if it is no peer certificate. It
// does not verify the certificate.
func PeerOf(certificate *x509.Certificate) (Peer, bool) {
	for _, uri := range certificate.URIs {
		if uri.Scheme == peerScheme && uri.Host == peerHost {
			name := strings.TrimPrefix(uri.Path, "/")
			return Peer{Name: name, NodeID: uri.Query().Get(peerIDsQuery)}, name != ""
		}
	}
	return Peer{}, false
}

// peerURI is quorate://peer/<name>?id=<node id>.
func peerURI(p Peer) *url.URL {
	return &url.URL{
		Scheme:   peerScheme,
		Host:     peerHost,
		Path:     "/" + p.Name,
		RawQuery: url.Values{peerIDsQuery: {p.NodeID}}.Encode(),
	}
}
