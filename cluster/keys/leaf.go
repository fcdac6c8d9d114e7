package keys

import (
	"crypto/tls"
	"crypto/x509"
	"sync"
	"time"
)

// leafLifetime is how long a node's certificates live; they are replaced in place when less than a
// third of it is left.
const leafLifetime = 365 * 24 * time.Hour

// leaf is a certificate of this node, renewed when a handshake needs it.
type leaf struct {
	authority *Authority
	template  *x509.Certificate

	mu      sync.Mutex
	current *tls.Certificate // guarded by mu
}

// newLeaf issues the first certificate immediately, so that a bad template fails at start.
func newLeaf(a *Authority, template *x509.Certificate) (*leaf, error) {
	l := &leaf{authority: a, template: template}
	_, err := l.certificate()
	return l, err
}

func (l *leaf) certificate() (*tls.Certificate, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current != nil && time.Until(l.current.Leaf.NotAfter) > leafLifetime/3 {
		return l.current, nil
	}
	renewed, err := l.authority.issue(l.template, leafLifetime)
	if err != nil {
		return nil, err
	}
	l.current = renewed
	return renewed, nil
}

func (l *leaf) serve(*tls.ClientHelloInfo) (*tls.Certificate, error) { return l.certificate() }

func (l *leaf) present(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return l.certificate() }
