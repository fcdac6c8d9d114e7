package kubeconfig

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// Read returns the current context of one file.
func Read(path string) (Config, error) {
	return Load([]string{path}, "")
}

// ErrNoFile is the error of Load if none of its files exists.
var ErrNoFile = errors.New("no such file")

// Load merges files as kubectl merges those of $KUBECONFIG, and returns the context of that name,
// or the current one if the name is empty. Of several entries of one name the first wins, and of
// several current contexts, too. Files that do not exist are skipped, but not all of them may be
// missing. Paths in a file are relative to its folder.
//
// Others are the other clusters for which the same file has a context of the same user with the
// same certificate authority: the further nodes in a file that Encode wrote.
func Load(paths []string, context string) (Config, error) {
	var merged file
	read := 0
	for _, path := range paths {
		f, err := parse(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Config{}, err
		}
		read++
		merged.merge(f)
	}
	list := strings.Join(paths, string(filepath.ListSeparator))
	if read == 0 {
		return Config{}, fmt.Errorf("%s: %w", list, ErrNoFile)
	}
	if name := cmp.Or(context, merged.CurrentContext); name != "" {
		c, err := merged.choose(name)
		if err != nil {
			return Config{}, fmt.Errorf("%s: %w", list, err)
		}
		return c, nil
	}
	return Config{}, fmt.Errorf("%s: there is no current context: give --context", list)
}

func parse(path string) (*file, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	f := &file{}
	if err := yaml.Unmarshal(content, f); err != nil {
		return nil, fmt.Errorf("%s is no kubeconfig: %w", path, err)
	}
	for i := range f.Clusters {
		f.Clusters[i].origin = path
	}
	for i := range f.Users {
		f.Users[i].origin = path
	}
	for i := range f.Contexts {
		f.Contexts[i].origin = path
	}
	return f, nil
}

// merge appends the entries of a later file; find returns the first of a name.
func (f *file) merge(later *file) {
	f.Clusters = append(f.Clusters, later.Clusters...)
	f.Users = append(f.Users, later.Users...)
	f.Contexts = append(f.Contexts, later.Contexts...)
	f.CurrentContext = cmp.Or(f.CurrentContext, later.CurrentContext)
}

// choose returns the cluster and the user of a context, and the further nodes of the cluster.
func (f *file) choose(name string) (c Config, err error) {
	context, ok := find(f.Contexts, func(c namedContext) bool { return c.Name == name })
	if !ok {
		return c, fmt.Errorf("no context %q", name)
	}
	first, ok := find(f.Clusters, func(c namedCluster) bool { return c.Name == context.Context.Cluster })
	if !ok {
		return c, fmt.Errorf("no cluster %q", context.Context.Cluster)
	}
	who, ok := find(f.Users, func(u namedUser) bool { return u.Name == context.Context.User })
	if !ok {
		return c, fmt.Errorf("no user %q", context.Context.User)
	}
	c.Server, c.ServerName, c.User = first.Cluster.Server, first.Cluster.ServerName, who.Name
	if c.CA, err = data(first.origin, "certificate-authority", first.Cluster.CA, first.Cluster.CAFile); err != nil {
		return c, err
	}
	c.Others = f.others(context, first)
	return c, who.addTo(&c)
}

// others returns the nodes besides first: the clusters of other contexts of the same file that have
// the same user and the same authority.
func (f *file) others(chosen namedContext, first namedCluster) (nodes []Node) {
	seen := map[string]bool{first.Name: true}
	for _, context := range f.Contexts {
		if context.origin != chosen.origin || context.Context.User != chosen.Context.User {
			continue
		}
		found, ok := find(f.Clusters, func(c namedCluster) bool { return c.Name == context.Context.Cluster })
		if !ok || found.Cluster.CA == "" || found.Cluster.CA != first.Cluster.CA || seen[found.Name] {
			continue
		}
		seen[found.Name] = true
		nodes = append(nodes, Node{
			Name:   strings.TrimPrefix(found.Name, clusterName+"-"),
			Server: found.Cluster.Server, ServerName: found.Cluster.ServerName,
		})
	}
	return nodes
}

// addTo adds the user's credentials to c. A token takes precedence over a file with one, as in
// client-go.
func (u *namedUser) addTo(c *Config) (err error) {
	if u.User.Exec != nil || u.User.AuthProvider != nil {
		return fmt.Errorf("the user %q has credentials from another program, which only kubectl runs: use one with a token or a client certificate", u.Name)
	}
	c.Token = u.User.Token
	if c.Token == "" && u.User.TokenFile != "" {
		token, err := data(u.origin, "tokenFile", "", u.User.TokenFile)
		if err != nil {
			return err
		}
		c.Token = strings.TrimSpace(string(token))
	}
	if c.ClientCertificate, err = data(u.origin, "client-certificate", u.User.Certificate, u.User.CertificateFile); err != nil {
		return err
	}
	c.ClientKey, err = data(u.origin, "client-key", u.User.Key, u.User.KeyFile)
	return err
}

// data returns what a kubeconfig holds in KEY-data, or else the content of the file that it names.
func data(origin, key, encoded, path string) ([]byte, error) {
	if encoded != "" || path == "" {
		content, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return nil, fmt.Errorf("%s-data is not base64", key)
		}
		return content, nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(origin), path)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return content, nil
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
