package node

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync"
	"time"

	"quorate/cmd/quorate/settings"
)

// certificateCheck is the interval at which the file of a supplied certificate is checked for
// changes.
const certificateCheck = time.Minute

// supplied applies the operator's certificate and client authorities, if given, to the API's TLS
// configuration.
func supplied(config *tls.Config, s settings.API) error {
	if s.ClientCAFile != "" {
		pem, err := os.ReadFile(s.ClientCAFile)
		if err != nil {
			return fmt.Errorf("--client-ca-file: %w", err)
		}
		config.ClientCAs = x509.NewCertPool()
		if !config.ClientCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("--client-ca-file %s: no certificate in it", s.ClientCAFile)
		}
		config.ClientAuth = tls.VerifyClientCertIfGiven
	}
	if s.CertFile == "" {
		return nil
	}
	own := &certificateFile{cert: s.CertFile, key: s.KeyFile}
	if _, err := own.get(); err != nil {
		return err
	}
	issued := config.GetCertificate
	config.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		// Commands on this machine trust the cluster's authority, and request its certificate by
		// name.
		if hello.ServerName == localName {
			return issued(hello)
		}
		return own.get()
	}
	return nil
}

// certificateFile is a certificate that an operator may replace on disk while the node runs.
type certificateFile struct {
	cert, key string

	mu      sync.Mutex
	checked time.Time        // guarded by mu
	changed time.Time        // guarded by mu: modification time of what is loaded
	loaded  *tls.Certificate // guarded by mu
}

// get returns the current certificate. While a replacement can't be read, the old one remains in
// use.
func (c *certificateFile) get() (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded != nil && time.Since(c.checked) < certificateCheck {
		return c.loaded, nil
	}
	c.checked = time.Now()
	info, err := os.Stat(c.cert)
	if err == nil && (c.loaded == nil || !info.ModTime().Equal(c.changed)) {
		var fresh tls.Certificate
		if fresh, err = c.load(); err == nil {
			c.loaded, c.changed = &fresh, info.ModTime()
		}
	}
	if c.loaded == nil {
		return nil, fmt.Errorf("--tls-cert-file: %w", err)
	}
	return c.loaded, nil
}

// load reads the files. It refuses a key that users other than its owner and group can read, or
// that its group can write.
func (c *certificateFile) load() (tls.Certificate, error) {
	info, err := os.Stat(c.key)
	if err != nil {
		return tls.Certificate{}, err
	}
	if mode := info.Mode().Perm(); mode&0o027 != 0 {
		return tls.Certificate{}, fmt.Errorf("--tls-key-file %s is accessible to others (mode %04o): run chmod 600 %[1]s", c.key, mode)
	}
	return tls.LoadX509KeyPair(c.cert, c.key)
}

// expiry returns the time at which the first certificate of a chain expires.
func expiry(chain *tls.Certificate) (end time.Time, err error) {
	for i, der := range chain.Certificate {
		certificate, err := x509.ParseCertificate(der)
		if err != nil {
			return time.Time{}, fmt.Errorf("parse certificate %d of the chain: %w", i+1, err)
		}
		if i == 0 || certificate.NotAfter.Before(end) {
			end = certificate.NotAfter
		}
	}
	return end, nil
}
