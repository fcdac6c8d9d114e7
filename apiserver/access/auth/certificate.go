package auth

import "crypto/tls"

// OfCertificate returns the user that a verified client certificate names: its common name, in the
// groups of its organizations (semantics J6). Nil without one; the TLS configuration decides which
// authorities count.
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
