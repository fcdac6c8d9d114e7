package auth

import "crypto/tls"

// OfCertificate returns the user that a verified client certificate identifies: its common name,
// with its organizations as groups (semantics J6). It returns nil if there is no such certificate.
// The TLS configuration determines which authorities are trusted.
func OfCertificate(state *tls.ConnectionState) *User {
	if state == nil || len(state.VerifiedChains) == 0 {
		return nil
	}
	subject := state.VerifiedChains[0][0].Subject
	if subject.CommonName == "" {
		return nil
	}
	return newUser(Identity{Name: subject.CommonName, Groups: subject.Organization})
}
