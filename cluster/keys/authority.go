package keys

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"time"
)

// backdate lets a certificate be used by nodes and clients whose clocks are behind.
const backdate = 24 * time.Hour

// Authority is the cluster's certificate authority. Every node that holds the cluster key has the
// same one.
type Authority struct {
	key         deterministicSigner
	certificate *x509.Certificate
	pool        *x509.CertPool
}

// Authority derives the certificate authority.
func (k *Key) Authority() (*Authority, error) {
	private, err := k.authorityKey()
	if err != nil {
		return nil, err
	}
	signer := deterministicSigner{private}
	spki, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		return nil, fmt.Errorf("encode the authority's public key: %w", err)
	}
	// Everything in the template is fixed or derived: x509 would otherwise choose a serial number
	// at random and a key id by a rule that has changed between Go releases.
	id := sha256.Sum256(spki)
	template := &x509.Certificate{
		SerialNumber:          new(big.Int).SetBytes(id[:16]),
		Subject:               pkix.Name{CommonName: "Quorate cluster " + fmt.Sprintf("%x", id[:4])},
		NotBefore:             time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:              time.Date(2120, 1, 1, 0, 0, 0, 0, time.UTC),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
		SubjectKeyId:          id[:20],
		SignatureAlgorithm:    x509.ECDSAWithSHA256,
	}
	der, err := x509.CreateCertificate(nil, template, template, private.Public(), signer)
	if err != nil {
		return nil, fmt.Errorf("derive the authority's certificate: %w", err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("derive the authority's certificate: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(certificate)
	return &Authority{key: signer, certificate: certificate, pool: pool}, nil
}

// authorityKey takes the first derived value that is a P-256 private key; one in 2³² is not.
func (k *Key) authorityKey() (*ecdsa.PrivateKey, error) {
	for attempt := range 8 {
		raw := k.derive(fmt.Sprintf("%s %d", labelAuthority, attempt), 32)
		if private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), raw); err == nil {
			return private, nil
		}
	}
	return nil, fmt.Errorf("derive the authority's key: no valid key in 8 attempts")
}

// CertificatePEM returns the authority's certificate, for ca.crt and kubeconfigs.
func (a *Authority) CertificatePEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

// Pool returns a pool with the authority's certificate. The caller must not add to it, but may to a
// Clone.
func (a *Authority) Pool() *x509.CertPool { return a.pool }

// issue makes a certificate for a new key.
func (a *Authority) issue(template *x509.Certificate, lifetime time.Duration) (*tls.Certificate, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generate a key: %w", err)
	}
	var serial [16]byte
	rand.Read(serial[:])
	serial[0] &= 0x7f // positive in 16 bytes
	now := time.Now()
	t := *template
	t.SerialNumber = new(big.Int).SetBytes(serial[:])
	t.NotBefore, t.NotAfter = now.Add(-backdate), now.Add(lifetime)
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.BasicConstraintsValid = true
	der, err := x509.CreateCertificate(nil, &t, a.certificate, private.Public(), a.key)
	if err != nil {
		return nil, fmt.Errorf("issue a certificate for %s: %w", t.Subject.CommonName, err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("issue a certificate for %s: %w", t.Subject.CommonName, err)
	}
	// The chain includes the authority, for clients that pin it.
	return &tls.Certificate{Certificate: [][]byte{der, a.certificate.Raw}, PrivateKey: private, Leaf: leaf}, nil
}

// deterministicSigner signs with RFC 6979 nonces, which Go does when no source of randomness is
// given. x509 passes one on.
type deterministicSigner struct{ key *ecdsa.PrivateKey }

func (s deterministicSigner) Public() crypto.PublicKey { return s.key.Public() }

func (s deterministicSigner) Sign(_ io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	return s.key.Sign(nil, digest, opts)
}
