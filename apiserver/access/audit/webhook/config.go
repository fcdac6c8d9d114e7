package webhook

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// file is the part of a kubeconfig that names a server and how to reach it.
type file struct {
	Clusters []struct {
		Name    string  `json:"name"`
		Cluster cluster `json:"cluster"`
	} `json:"clusters"`
	Users []struct {
		Name string `json:"name"`
		User user   `json:"user"`
	} `json:"users"`
	Contexts []struct {
		Name    string `json:"name"`
		Context struct {
			Cluster string `json:"cluster"`
			User    string `json:"user"`
		} `json:"context"`
	} `json:"contexts"`
	CurrentContext string `json:"current-context"`
}

type cluster struct {
	Server     string `json:"server"`
	ServerName string `json:"tls-server-name"`
	CAFile     string `json:"certificate-authority"`
	CAData     string `json:"certificate-authority-data"`
	Insecure   bool   `json:"insecure-skip-tls-verify"`
	Proxy      string `json:"proxy-url"`
}

type user struct {
	Token     string `json:"token"`
	TokenFile string `json:"tokenFile"`
	CertFile  string `json:"client-certificate"`
	CertData  string `json:"client-certificate-data"`
	KeyFile   string `json:"client-key"`
	KeyData   string `json:"client-key-data"`
	Username  string `json:"username"`
	Password  string `json:"password"`
	Exec      any    `json:"exec"`
	Provider  any    `json:"auth-provider"`
}

// read returns the cluster and the user of the file's current context.
func read(path string) (cluster, user, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return cluster{}, user{}, err
	}
	var f file
	if err := yaml.Unmarshal(content, &f); err != nil {
		return cluster{}, user{}, fmt.Errorf("not a kubeconfig: %w", err)
	}
	var c *cluster
	u := user{}
	for _, context := range f.Contexts {
		if context.Name != f.CurrentContext {
			continue
		}
		for i := range f.Clusters {
			if f.Clusters[i].Name == context.Context.Cluster {
				c = &f.Clusters[i].Cluster
			}
		}
		for _, named := range f.Users {
			if named.Name == context.Context.User {
				u = named.User
			}
		}
	}
	if c == nil {
		return cluster{}, user{}, fmt.Errorf("current-context: %q names no context with a cluster of the file", f.CurrentContext)
	}
	return *c, u, errors.Join(c.check(), u.check())
}

func (c *cluster) check() error {
	address, err := url.Parse(c.Server)
	switch {
	case err != nil || address.Scheme != "https" || address.Host == "":
		return fmt.Errorf("clusters: server: %q: want a URL that begins with https://", c.Server)
	case c.Proxy != "":
		return errors.New("clusters: proxy-url: proxies are not supported")
	}
	return nil
}

func (u *user) check() error {
	if u.Exec != nil || u.Provider != nil {
		return errors.New("users: exec and auth-provider are not supported: give a token, a tokenFile or a client certificate")
	}
	return nil
}

// tls returns the configuration of connections. Paths are relative to dir.
func (c *cluster) tls(u *user, dir string) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.ServerName, InsecureSkipVerify: c.Insecure} //nolint:gosec // asked for
	authorities, err := either("certificate-authority", dir, c.CAFile, c.CAData)
	if err != nil {
		return nil, err
	}
	if authorities != nil {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(authorities) {
			return nil, errors.New("certificate-authority: no certificate in it")
		}
	}
	certificate, err := either("client-certificate", dir, u.CertFile, u.CertData)
	if err != nil {
		return nil, err
	}
	key, err := either("client-key", dir, u.KeyFile, u.KeyData)
	if err != nil {
		return nil, err
	}
	if certificate == nil && key == nil {
		return config, nil
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("client-certificate and client-key: %w", err)
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}

// either returns the content of a field that is a path or base64; nil if it is neither.
func either(field, dir, path, data string) ([]byte, error) {
	switch {
	case data != "":
		content, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			return nil, fmt.Errorf("%s-data: %w", field, err)
		}
		return content, nil
	case path != "":
		content, err := os.ReadFile(within(dir, path))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", field, err)
		}
		return content, nil
	}
	return nil, nil
}

// within returns a path that is relative to a directory unless it is absolute.
func within(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
