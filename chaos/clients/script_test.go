package clients_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

const scripts = "testdata/script"

// TestScripts runs the scripts that KUBECTL.md lists, each the transcript of a session with one
// verb of kubectl, in parallel against one cluster of three nodes. Each script has its own
// namespace and home directory, and derives the names of cluster-scoped objects from its own name.
func TestScripts(t *testing.T) {
	c := startCluster(t, binaries.quorate, 3)
	testscript.Run(t, testscript.Params{
		Dir:                scripts,
		Setup:              c.open,
		Cmds:               commands,
		RequireUniqueNames: true,
	})
}

// session is the state of one script beside its environment.
type session struct {
	servers []string        // of the nodes
	turn    int             // commands so far
	jobs    map[string]*job // in the background, by name
}

type sessionKey struct{}

// open makes what a script starts with: $NAME, its own name, which is also its namespace; a
// kubeconfig; and in kinds/ a manifest of each kind.
func (c *cluster) open(env *testscript.Env) error {
	name := strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")
	s := &session{jobs: map[string]*job{}}
	for _, node := range c.Nodes() {
		s.servers = append(s.servers, node.API)
	}
	env.Values[sessionKey{}] = s
	env.Defer(func() {
		for _, j := range s.jobs {
			j.cancel()
		}
	})
	env.Setenv("NAME", name)
	env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
	env.Setenv("KUBECONFIG", filepath.Join(env.WorkDir, "kubeconfig"))
	if err := c.makeNamespace(name, env.Getenv("KUBECONFIG")); err != nil {
		return err
	}
	return copyManifests(name, filepath.Join(env.WorkDir, "kinds"))
}

// makeNamespace creates the namespace, and a kubeconfig that has it as its default.
func (c *cluster) makeNamespace(name, kubeconfig string) error {
	config, err := clientcmd.LoadFromFile(c.kubeconfig)
	if err != nil {
		return err
	}
	config.Contexts[config.CurrentContext].Namespace = name
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		return err
	}
	rest, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	rest.Timeout = waitTimeout
	set, err := kubernetes.NewForConfig(rest)
	if err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err = set.CoreV1().Namespaces().Create(context.Background(), namespace, metav1.CreateOptions{})
	return err
}

// copyManifests copies the manifests of all kinds, named after the script where they are outside of
// its namespace.
func copyManifests(name, dir string) error {
	manifests, err := filepath.Glob("testdata/kinds/*.yaml")
	if err != nil {
		return err
	}
	if len(manifests) == 0 {
		return fmt.Errorf("no manifests in testdata/kinds")
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for _, manifest := range manifests {
		text, err := os.ReadFile(manifest)
		if err != nil {
			return err
		}
		named := strings.ReplaceAll(string(text), "${NAME}", name)
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(manifest)), []byte(named), 0o644); err != nil {
			return err
		}
	}
	return nil
}
