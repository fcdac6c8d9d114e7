package keys

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"slices"
	"time"
)

// hostName matches what a certificate can contain as a DNS name; a node's name need not match.
var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$`)

// APIServer returns the TLS configuration of the API address, with a certificate for localhost,
// this host's name, and the names and addresses in hosts. Empty, wildcard and unusable hosts are
// left out. The certificate is renewed without a restart.
//
// The server requests a client certificate but does not verify it. The authenticator decides
// whether the certificate identifies the client (J6): a bad certificate must get a 401, not a
// failed handshake. A caller with other client authorities replaces ClientCAs, and a caller with
// its own server certificate replaces GetCertificate.
func (a *Authority) APIServer(hosts ...string) (*tls.Config, error) {
	names, addresses := subjects(hosts)
	l, err := newLeaf(a, &x509.Certificate{
		Subject:     pkix.Name{CommonName: "quorate-api"},
		DNSNames:    names,
		IPAddresses: addresses,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	if err != nil {
		return nil, fmt.Errorf("issue the API certificate: %w", err)
	}
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"h2", "http/1.1"},
		GetCertificate: l.serve,
		ClientAuth:     tls.RequestClientCert,
		ClientCAs:      a.pool,
		// For TLS 1.2. TLS 1.3 has no such choice, and prefers AES-GCM by itself where the
		// processor has AES.
		CipherSuites: []uint16{
			tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
			tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
			tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
		},
	}, nil
}

// subjects sorts hosts into the names and addresses of a certificate, with those of every API
// certificate first.
func subjects(hosts []string) (names []string, addresses []net.IP) {
	all := []string{"localhost", "127.0.0.1", "::1"}
	if host, err := os.Hostname(); err == nil {
		all = append(all, host)
	}
	for _, host := range append(all, hosts...) {
		if ip := net.ParseIP(host); ip != nil {
			if !ip.IsUnspecified() && !slices.ContainsFunc(addresses, ip.Equal) {
				addresses = append(addresses, ip)
			}
			continue
		}
		if len(host) <= 253 && hostName.MatchString(host) && !slices.Contains(names, host) {
			names = append(names, host)
		}
	}
	return names, addresses
}

// IssueUser makes a client certificate for a user of the API, and its key, in PEM. The peer port
// refuses it.
func (a *Authority) IssueUser(user string, groups []string, lifetime time.Duration) (certificate, key []byte, err error) {
	if user == "" || lifetime <= 0 {
		return nil, nil, errors.New("issue a user's certificate: want a user and a lifetime")
	}
	issued, err := a.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, lifetime)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(issued.PrivateKey)
	if err != nil {
		return nil, nil, fmt.Errorf("encode the key of %s: %w", user, err)
	}
	certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: issued.Certificate[0]})
	return certificate, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}
