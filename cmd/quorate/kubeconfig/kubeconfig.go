// Package kubeconfig reads and writes the part of kubectl's configuration files that Quorate uses:
// one server, its certificate authority and one bearer token. It has no goroutines.
package kubeconfig

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"sigs.k8s.io/yaml"
)

// clusterName is the name of the cluster in the file, and part of the context's name.
const clusterName = "quorate"

// Config is an API server's address and the credentials of one user.
type Config struct {
	Server string // URL
	CA     []byte // PEM
	// ServerName is the name that the server's certificate must have; empty for the host of Server.
	ServerName string
	User       string
	Token      string
}

// file is the layout on disk.
type file struct {
	APIVersion     string         `json:"apiVersion"`
	Kind           string         `json:"kind"`
	Clusters       []namedCluster `json:"clusters"`
	Users          []namedUser    `json:"users"`
	Contexts       []namedContext `json:"contexts"`
	CurrentContext string         `json:"current-context"`
}

type namedCluster struct {
	Name    string `json:"name"`
	Cluster struct {
		Server     string `json:"server"`
		ServerName string `json:"tls-server-name,omitempty"`
		CA         string `json:"certificate-authority-data,omitempty"`
	} `json:"cluster"`
}

type namedUser struct {
	Name string `json:"name"`
	User struct {
		Token string `json:"token,omitempty"`
	} `json:"user"`
}

type namedContext struct {
	Name    string `json:"name"`
	Context struct {
		Cluster string `json:"cluster"`
		User    string `json:"user"`
	} `json:"context"`
}

// Encode returns c as the content of a kubeconfig file.
func (c Config) Encode() ([]byte, error) {
	cluster := namedCluster{Name: clusterName}
	cluster.Cluster.Server, cluster.Cluster.ServerName = c.Server, c.ServerName
	cluster.Cluster.CA = base64.StdEncoding.EncodeToString(c.CA)
	user := namedUser{Name: c.User}
	user.User.Token = c.Token
	context := namedContext{Name: c.User + "@" + clusterName}
	context.Context.Cluster, context.Context.User = cluster.Name, user.Name
	content, err := yaml.Marshal(file{
		APIVersion: "v1", Kind: "Config",
		Clusters: []namedCluster{cluster}, Users: []namedUser{user}, Contexts: []namedContext{context},
		CurrentContext: context.Name,
	})
	if err != nil {
		return nil, fmt.Errorf("encode kubeconfig: %w", err)
	}
	return content, nil
}

// Read returns the cluster and the user of the file's current context.
func Read(path string) (Config, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, fmt.Errorf("%s: no such file: give --kubeconfig, or --data-dir of a node on this machine", path)
	}
	if err != nil {
		return Config{}, fmt.Errorf("read kubeconfig: %w", err)
	}
	var f file
	if err := yaml.Unmarshal(content, &f); err != nil {
		return Config{}, fmt.Errorf("%s is no kubeconfig: %w", path, err)
	}
	c, err := f.current()
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

func (f *file) current() (Config, error) {
	context, ok := find(f.Contexts, func(c namedContext) bool { return c.Name == f.CurrentContext })
	if !ok {
		return Config{}, fmt.Errorf("no context %q", f.CurrentContext)
	}
	cluster, ok := find(f.Clusters, func(c namedCluster) bool { return c.Name == context.Context.Cluster })
	if !ok {
		return Config{}, fmt.Errorf("no cluster %q", context.Context.Cluster)
	}
	user, ok := find(f.Users, func(u namedUser) bool { return u.Name == context.Context.User })
	if !ok {
		return Config{}, fmt.Errorf("no user %q", context.Context.User)
	}
	ca, err := base64.StdEncoding.DecodeString(cluster.Cluster.CA)
	if err != nil {
		return Config{}, errors.New("certificate-authority-data is not base64")
	}
	return Config{
		Server: cluster.Cluster.Server, ServerName: cluster.Cluster.ServerName, CA: ca,
		User: user.Name, Token: user.User.Token,
	}, nil
}

func find[T any](items []T, match func(T) bool) (T, bool) {
	for _, item := range items {
		if match(item) {
			return item, true
		}
	}
	var none T
	return none, false
}
