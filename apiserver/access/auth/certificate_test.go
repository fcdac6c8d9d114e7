package auth_test

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"testing"
	"time"

	"quorate/apiserver/access/auth"
)

func TestOfCertificate(t *testing.T) {
	now := time.Now()
	cert := &x509.Certificate{NotAfter: now.Add(time.Hour), Subject: pkix.Name{CommonName: "jane", Organization: []string{"team"}}}
	authority := &x509.Certificate{NotAfter: now.Add(time.Minute)}
	state := func(chain ...*x509.Certificate) *tls.ConnectionState {
		return &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{chain}}
	}
	credential, ok := auth.OfCertificate(state(cert, authority), now)
	if !ok || !credential.Expires.Equal(authority.NotAfter) {
		t.Fatalf("%v, expires %s", ok, credential.Expires)
	}
	user := credential.User
	if user.Name != "jane" || !user.In("team") || !user.In(auth.AuthenticatedGroup) {
		t.Errorf("J6: got %+v", user)
	}
	for name, state := range map[string]*tls.ConnectionState{
		"no TLS":                nil,
		"no certificate":        {},
		"not verified":          {PeerCertificates: []*x509.Certificate{cert}},
		"a name without a user": state(&x509.Certificate{NotAfter: now.Add(time.Hour)}),
		"expired":               state(&x509.Certificate{NotAfter: now, Subject: cert.Subject}),
		"authority expired":     state(cert, &x509.Certificate{NotAfter: now.Add(-time.Second)}),
	} {
		if got, ok := auth.OfCertificate(state, now); ok || got.User != nil {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}
