package demo

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"quorate/apiserver/access/auth"
	"quorate/cluster/keys"
	"quorate/cmd/quorate/datadir"
	"quorate/cmd/quorate/kubeconfig"
)

const (
	founders = 3 // nodes that form the cluster
	// maxNodes bounds the nodes of a demo: each takes memory, and a key from 1 to 7.
	maxNodes = 7
	// tokenLifetime bounds the use of the kubeconfig's token.
	tokenLifetime = 24 * time.Hour
	// variablePrefix begins the environment variables that would change the settings of a node.
	variablePrefix = "QUORATE_"
)

// node is a child process, or what is left of one that was killed: its data and its addresses.
type node struct {
	name              string
	api, peer, gossip string // HOST:PORT
	founder           bool
	process           *os.Process // nil if it does not run
	killed            bool        // by a key
}

// exit is the end of a child process.
type exit struct {
	node *node
	err  error
}

// nodes is the cluster as processes. Only the loop of Run uses it.
type nodes struct {
	dir, binary string
	environ     []string
	credentials kubeconfig.Config // without a server
	all         []*node
	taken       map[string]bool // addresses
	running     int             // children whose exit is still to come
	exits       chan exit
}

// newNodes writes the cluster key and the kubeconfig into dir and names the founders. It starts
// nothing.
func newNodes(dir, binary string, environ []string) (*nodes, error) {
	key := keys.Generate()
	if err := key.Save(filepath.Join(dir, datadir.KeyFile)); err != nil {
		return nil, err
	}
	authority, err := key.Authority()
	if err != nil {
		return nil, err
	}
	token, err := auth.NewIssuer(key.TokenSigning()).Issue(
		auth.Identity{Name: "admin", UID: "admin", Groups: []string{"system:masters"}}, tokenLifetime)
	if err != nil {
		return nil, err
	}
	n := &nodes{
		dir: dir, binary: binary, taken: make(map[string]bool), exits: make(chan exit),
		environ:     slices.DeleteFunc(slices.Clone(environ), func(v string) bool { return strings.HasPrefix(v, variablePrefix) }),
		credentials: kubeconfig.Config{CA: authority.CertificatePEM(), User: "admin", Token: token},
	}
	for range founders {
		if err := n.name(true); err != nil {
			return nil, err
		}
	}
	return n, n.writeKubeconfig()
}

// name gives the next node a name and addresses.
func (n *nodes) name(founder bool) error {
	addresses, err := freeAddresses(3, n.taken)
	if err != nil {
		return err
	}
	n.all = append(n.all, &node{
		name: "n" + strconv.Itoa(len(n.all)+1), founder: founder,
		api: addresses[0], peer: addresses[1], gossip: addresses[2],
	})
	return nil
}

// kubeconfig returns the path of the file for kubectl.
func (n *nodes) kubeconfig() string { return filepath.Join(n.dir, datadir.KubeconfigFile) }

// writeKubeconfig makes the kubeconfig name a node that runs, the first one if none does, so that
// kubectl goes on working when a node is killed.
func (n *nodes) writeKubeconfig() error {
	target := n.all[0]
	if i := slices.IndexFunc(n.all, func(one *node) bool { return one.process != nil }); i >= 0 {
		target = n.all[i]
	}
	content, err := n.configOf(target).Encode()
	if err != nil {
		return err
	}
	return datadir.WriteFile(n.kubeconfig(), content, 0o600)
}

// configOf returns the kubeconfig of one node.
func (n *nodes) configOf(one *node) kubeconfig.Config {
	config := n.credentials
	config.Server = "https://" + one.api
	return config
}

// start starts a node on the data that it has. Its output goes to a file beside its data directory.
func (n *nodes) start(one *node) error {
	var gossip []string
	for _, other := range n.all {
		gossip = append(gossip, other.gossip)
	}
	args := []string{
		"serve", "--name", one.name, "--data-dir", filepath.Join(n.dir, one.name),
		"--cluster-key-file", filepath.Join(n.dir, datadir.KeyFile), "--join", strings.Join(gossip, ","),
		"--api-addr", one.api, "--peer-addr", one.peer, "--gossip-addr", one.gossip,
	}
	if one.founder {
		args = append(args, "--bootstrap-expect", strconv.Itoa(founders))
	}
	log, err := os.OpenFile(n.logOf(one), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(n.binary, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = n.environ, log, log
	// A group of its own, so that Ctrl-C in the terminal ends the demo and not the nodes before it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", one.name, err)
	}
	one.process, one.killed = cmd.Process, false
	n.running++
	go func() { n.exits <- exit{node: one, err: cmd.Wait()} }()
	return n.writeKubeconfig()
}

func (n *nodes) logOf(one *node) string { return filepath.Join(n.dir, one.name+".log") }

// kill sends SIGKILL to a node. Its exit follows.
func (n *nodes) kill(one *node) error {
	one.killed = true
	if err := one.process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill %s: %w", one.name, err)
	}
	return nil
}

// ended records the exit of a node.
func (n *nodes) ended(e exit) error {
	e.node.process = nil
	n.running--
	return n.writeKubeconfig()
}

// close kills every node and waits until all have ended.
func (n *nodes) close() (err error) {
	for _, one := range n.all {
		if one.process != nil {
			err = errors.Join(err, n.kill(one))
		}
	}
	for n.running > 0 {
		(<-n.exits).node.process = nil
		n.running--
	}
	return err
}

// lastLine returns the last line of a node's output, which says why it ended.
func (n *nodes) lastLine(one *node) string {
	content, err := os.ReadFile(n.logOf(one))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return lines[len(lines)-1]
}
