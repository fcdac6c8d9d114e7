package solo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// Config describes a node.
type Config struct {
	Binary string
	Flags  []string // of serve, beside those that Start sets
	// Users are those that Client knows, without any rights.
	Users []string
	// Label begins the name of the temporary directory.
	Label string
}

// Node is a running node.
type Node struct {
	Server     string // URL of the API
	GossipAddr string
	PeerAddr   string

	// Admin is a client of a member of system:masters.
	Admin *Client

	cmd *exec.Cmd
	dir string
}

// Token returns the token of a user of Config.Users.
func Token(user string) string { return user + "-token" }

// Start starts a node and waits until it is ready. The caller must call Stop.
func Start(ctx context.Context, cfg Config) (*Node, error) {
	dir, err := os.MkdirTemp("", cfg.Label+"-")
	if err != nil {
		return nil, err
	}
	n := &Node{dir: dir}
	if err := n.start(ctx, cfg); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := n.await(ctx); err != nil {
		text, _ := os.ReadFile(n.LogFile())
		return nil, errors.Join(fmt.Errorf("%w; the node's log:\n%s", err, text), n.Stop())
	}
	return n, nil
}

// LogFile is where the node logs to.
func (n *Node) LogFile() string { return filepath.Join(n.dir, "log") }

func (n *Node) start(ctx context.Context, cfg Config) error {
	tokens := filepath.Join(n.dir, "tokens")
	var lines strings.Builder
	for i, user := range cfg.Users {
		fmt.Fprintf(&lines, "%s,%s,%d\n", Token(user), user, i+1)
	}
	if err := os.WriteFile(tokens, []byte(lines.String()), 0o600); err != nil {
		return err
	}
	var err error
	if n.PeerAddr, err = freeAddress(); err != nil {
		return err
	}
	if n.GossipAddr, err = freeAddress(); err != nil {
		return err
	}
	args := append([]string{
		"serve", "--name", "n1", "--data-dir", n.data(), "--token-file", tokens,
		"--api-addr", "127.0.0.1:0", "--peer-addr", n.PeerAddr, "--gossip-addr", n.GossipAddr,
	}, cfg.Flags...)
	log, err := os.Create(n.LogFile())
	if err != nil {
		return err
	}
	defer log.Close()
	n.cmd = exec.CommandContext(ctx, cfg.Binary, args...)
	n.cmd.Stderr = log
	return n.cmd.Start()
}

func (n *Node) data() string { return filepath.Join(n.dir, "data") }

// freeAddress returns a free port of the loopback interface.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// await waits until the node is ready, and sets its address and Admin.
func (n *Node) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	address := regexp.MustCompile(`server: (\S+)`)
	for {
		text, err := os.ReadFile(filepath.Join(n.data(), "admin.kubeconfig"))
		if found := address.FindSubmatch(text); err == nil && found != nil {
			n.Server = strings.Trim(string(found[1]), `"`)
			token, err := os.ReadFile(filepath.Join(n.data(), "admin.token"))
			if err != nil {
				return err
			}
			n.Admin = NewClient(n.Server, strings.TrimSpace(string(token)))
			if code, err := n.Admin.Do(ctx, http.MethodGet, "/readyz", ""); err == nil && code == http.StatusOK {
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

// PID is the id of the node's process.
func (n *Node) PID() int { return n.cmd.Process.Pid }

// Stop ends the node and removes its directory.
func (n *Node) Stop() error {
	err := n.cmd.Process.Signal(syscall.SIGTERM)
	_ = n.cmd.Wait() // it was ordered to end
	return errors.Join(err, os.RemoveAll(n.dir))
}
