package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// node is a node of one in a temporary directory.
type node struct {
	cmd    *exec.Cmd
	dir    string
	server string
}

// startNode starts a node that knows alice and bob, and waits until it is ready.
func startNode(ctx context.Context, o *options) (*node, error) {
	dir, err := os.MkdirTemp("", "fairshare-")
	if err != nil {
		return nil, err
	}
	tokens, data := filepath.Join(dir, "tokens"), filepath.Join(dir, "data")
	if err := os.WriteFile(tokens, []byte("alice-token,alice,1\nbob-token,bob,2\n"), 0o600); err != nil {
		return nil, err
	}
	args := []string{
		"serve", "--name", "n1", "--data-dir", data, "--token-file", tokens, "--request-log", "none",
		"--api-addr", "127.0.0.1:0", "--peer-addr", "127.0.0.1:0", "--gossip-addr", "127.0.0.1:0",
	}
	n := &node{dir: dir, cmd: exec.CommandContext(ctx, o.binary, append(args, strings.Fields(o.serve)...)...)}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	n.cmd.Stderr = log
	if err := n.cmd.Start(); err != nil {
		return nil, err
	}
	if err := n.await(ctx, data); err != nil {
		text, _ := os.ReadFile(log.Name())
		n.stop()
		return nil, fmt.Errorf("%w; the node's log:\n%s", err, text)
	}
	return n, nil
}

// await waits until the node is ready and sets its address.
func (n *node) await(ctx context.Context, data string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	address := regexp.MustCompile(`server: (\S+)`)
	for {
		text, err := os.ReadFile(filepath.Join(data, "admin.kubeconfig"))
		if found := address.FindSubmatch(text); err == nil && found != nil {
			n.server = strings.Trim(string(found[1]), `"`)
			if code, err := newClient(n.server, "alice-token").do(ctx, http.MethodGet, "/readyz", ""); err == nil && code == http.StatusOK {
				return nil
			}
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return errors.New("the node is not ready after a minute")
		}
	}
}

// prepare lets alice and bob do everything with objects, and creates some.
func (n *node) prepare(ctx context.Context, objects int) error {
	token, err := os.ReadFile(filepath.Join(n.dir, "data", "admin.token"))
	if err != nil {
		return err
	}
	admin := newClient(n.server, strings.TrimSpace(string(token)))
	create := func(path, body string) error {
		code, err := admin.do(ctx, http.MethodPost, path, body)
		if err == nil && code >= 300 {
			err = fmt.Errorf("POST %s: %d", path, code)
		}
		return err
	}
	binding := `{"metadata":{"name":"fairshare"},"roleRef":{"apiGroup":"rbac.authorization.platform.io","kind":"ClusterRole","name":"edit"},
		"subjects":[{"kind":"User","name":"alice"},{"kind":"User","name":"bob"}]}`
	if err := create("/apis/rbac.authorization.platform.io/v1/clusterrolebindings", binding); err != nil {
		return err
	}
	for i := range objects {
		if err := create(collection, configMap(fmt.Sprintf("object-%d", i))); err != nil {
			return err
		}
	}
	return nil
}

// configMap returns an object of about 1 KiB.
func configMap(name string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"data":{"value":%q}}`, name, strings.Repeat("x", 1024))
}

// stop ends the node and removes its directory.
func (n *node) stop() {
	if err := n.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		fmt.Fprintln(os.Stderr, "fairshare: stop the node:", err)
	}
	_ = n.cmd.Wait() // it was ordered to end
	if err := os.RemoveAll(n.dir); err != nil {
		fmt.Fprintln(os.Stderr, "fairshare:", err)
	}
}
