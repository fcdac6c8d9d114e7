package auth

import (
	"crypto/tls"
	"time"
)

// OfCertificate returns the credential of a verified client certificate at time now: the common
// name identifies the user, and the organizations are the user's groups (semantics J6). ok is false
// if there is no such certificate, if it has no common name, or if a certificate of its chain has
// expired, which can happen while the connection is open. The TLS configuration determines which
// authorities are trusted.
func OfCertificate(state *tls.ConnectionState, now time.Time) (c Credential, ok bool) {
	if state == nil || len(state.VerifiedChains) == 0 {
		return Credential{}, false
	}
	chain := state.VerifiedChains[0]
	subject := chain[0].Subject
	if subject.CommonName == "" {
		return Credential{}, false
	}
	c.Expires = chain[0].NotAfter
	for _, cert := range chain[1:] {
		if cert.NotAfter.Before(c.Expires) {
			c.Expires = cert.NotAfter
		}
	}
	if !now.Before(c.Expires) {
		return Credential{}, false
	}
	c.User = newUser(Identity{Name: subject.CommonName, Groups: subject.Organization})
	return c, true
}
