package auth_test

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"testing"

	"quorate/apiserver/access/auth"
)

func TestOfCertificate(t *testing.T) {
	cert := &x509.Certificate{Subject: pkix.Name{CommonName: "jane", Organization: []string{"team"}}}
	user := auth.OfCertificate(&tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{cert}}})
	if user == nil || user.Name != "jane" || !user.In("team") || !user.In(auth.AuthenticatedGroup) {
		t.Errorf("J6: got %+v", user)
	}
	for name, state := range map[string]*tls.ConnectionState{
		"no TLS":                nil,
		"no certificate":        {},
		"not verified":          {PeerCertificates: []*x509.Certificate{cert}},
		"a name without a user": {VerifiedChains: [][]*x509.Certificate{{{}}}},
	} {
		if user := auth.OfCertificate(state); user != nil {
			t.Errorf("%s: got %+v", name, user)
		}
	}
}
