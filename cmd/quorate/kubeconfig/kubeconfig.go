// Package kubeconfig reads and writes the part of kubectl's configuration files that Quorate uses:
// the addresses of a cluster's nodes, their certificate authority, and one user's bearer token or
// client certificate. It has no goroutines.
package kubeconfig

import (
	"encoding/base64"
	"fmt"

	"sigs.k8s.io/yaml"
)

// clusterName is the name of the first node's cluster in the file, and part of the contexts' names.
const clusterName = "quorate"

// Config is the addresses of a cluster's API and the credentials of one user.
type Config struct {
	Server string // URL
	CA     []byte // PEM; empty for the authorities of the system
	// ServerName is the name that the server's certificate must have; empty for the host of Server.
	ServerName string
	// Others are further nodes of the cluster, in the order in which they are to be tried. One may be
	// that of Server, under the address that other machines use.
	Others []Node
	User   string
	Token  string
	// ClientCertificate and ClientKey are PEM; both or neither.
	ClientCertificate, ClientKey []byte
}

// Node is the address of one more node of the cluster. kubectl uses one server at a time, so each
// node has a context of its own, named USER@quorate-NAME.
type Node struct {
	Name       string
	Server     string // URL
	ServerName string
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
	Name    string  `json:"name"`
	Cluster cluster `json:"cluster"`
	origin  string  // path of the file
}

type cluster struct {
	Server     string `json:"server"`
	ServerName string `json:"tls-server-name,omitempty"`
	CA         string `json:"certificate-authority-data,omitempty"`
	CAFile     string `json:"certificate-authority,omitempty"`
}

type namedUser struct {
	Name   string `json:"name"`
	User   user   `json:"user"`
	origin string // path of the file
}

type user struct {
	Token           string         `json:"token,omitempty"`
	TokenFile       string         `json:"tokenFile,omitempty"`
	Certificate     string         `json:"client-certificate-data,omitempty"`
	CertificateFile string         `json:"client-certificate,omitempty"`
	Key             string         `json:"client-key-data,omitempty"`
	KeyFile         string         `json:"client-key,omitempty"`
	Exec            map[string]any `json:"exec,omitempty"`
	AuthProvider    map[string]any `json:"auth-provider,omitempty"`
}

type namedContext struct {
	Name    string `json:"name"`
	Context struct {
		Cluster string `json:"cluster"`
		User    string `json:"user"`
	} `json:"context"`
	origin string // path of the file
}

// Encode returns c as the content of a kubeconfig file, with a token and without a client
// certificate. The current context is that of Server.
func (c Config) Encode() ([]byte, error) {
	f := file{APIVersion: "v1", Kind: "Config", CurrentContext: c.User + "@" + clusterName}
	f.Users = []namedUser{{Name: c.User, User: user{Token: c.Token}}}
	ca := base64.StdEncoding.EncodeToString(c.CA)
	f.add(c.User, clusterName, cluster{Server: c.Server, ServerName: c.ServerName, CA: ca})
	for _, n := range c.Others {
		f.add(c.User, clusterName+"-"+n.Name, cluster{Server: n.Server, ServerName: n.ServerName, CA: ca})
	}
	content, err := yaml.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("encode kubeconfig: %w", err)
	}
	return content, nil
}

// add adds a cluster and the context of a user in it.
func (f *file) add(user, name string, c cluster) {
	f.Clusters = append(f.Clusters, namedCluster{Name: name, Cluster: c})
	context := namedContext{Name: user + "@" + name}
	context.Context.Cluster, context.Context.User = name, user
	f.Contexts = append(f.Contexts, context)
}
