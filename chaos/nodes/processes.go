package nodes

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"quorate/chaos/client"
)

// Processes is a Fleet of local processes on loopback ports.
type Processes struct {
	binary  string
	dir     string
	keyFile string
	nodes   []Node
	args    map[string][]string

	mu      sync.Mutex // guards running
	running map[string]*process
}

type process struct {
	cmd    *exec.Cmd
	log    *os.File
	exited chan struct{} // closed when the process is gone
}

// NewProcesses prepares count nodes of the binary with their data below dir. extra flags go to every `serve`. Nothing is
// started.
func NewProcesses(binary, dir string, count int, extra ...string) (*Processes, error) {
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	p := &Processes{
		binary: binary, dir: dir, keyFile: filepath.Join(dir, "cluster.key"),
		args: map[string][]string{}, running: map[string]*process{},
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(p.keyFile, []byte(base64.StdEncoding.EncodeToString(key)+"\n"), 0o600); err != nil {
		return nil, err
	}
	ports, err := freePorts(3 * count)
	if err != nil {
		return nil, err
	}
	var gossip []string
	for i := range count {
		gossip = append(gossip, loopback(ports[3*i+2]))
	}
	for i := range count {
		name := "n" + strconv.Itoa(i+1)
		api := loopback(ports[3*i])
		p.nodes = append(p.nodes, Node{Name: name, API: "https://" + api})
		p.args[name] = append([]string{
			"serve", "--name", name,
			"--data-dir", filepath.Join(dir, name),
			"--api-addr", api,
			"--peer-addr", loopback(ports[3*i+1]),
			"--gossip-addr", gossip[i],
			"--bootstrap-expect", strconv.Itoa(count),
			"--cluster-key-file", p.keyFile,
		}, extra...)
		if count > 1 { // a node that is told to join waits for others
			p.args[name] = append(p.args[name], "--join", strings.Join(gossip, ","))
		}
	}
	return p, nil
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// freePorts returns ports that were free for both TCP and UDP a moment ago.
func freePorts(count int) ([]int, error) {
	var ports []int
	for len(ports) < count {
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer tcp.Close()
		port := tcp.Addr().(*net.TCPAddr).Port
		udp, err := net.ListenPacket("udp", loopback(port))
		if err != nil {
			continue // taken for UDP by somebody else: try another
		}
		defer udp.Close()
		ports = append(ports, port)
	}
	return ports, nil
}

// Nodes implements Fleet.
func (p *Processes) Nodes() []Node { return p.nodes }

// credentials reads what the first node wrote into its data directory.
func (p *Processes) credentials() (client.Credentials, error) {
	data := filepath.Join(p.dir, p.nodes[0].Name)
	ca, err := os.ReadFile(filepath.Join(data, "ca.crt"))
	if err != nil {
		return client.Credentials{}, err
	}
	token, err := os.ReadFile(filepath.Join(data, "admin.token"))
	return client.Credentials{CA: ca, Token: strings.TrimSpace(string(token))}, err
}

// StartAll starts every node and waits until they are one ready cluster.
func (p *Processes) StartAll(ctx context.Context) (client.Credentials, error) {
	for _, node := range p.nodes {
		if err := p.Start(ctx, node.Name); err != nil {
			return client.Credentials{}, err
		}
	}
	credentials, err := p.awaitCredentials(ctx)
	if err != nil {
		return credentials, err
	}
	clients := map[string]*client.Client{}
	var names []string
	for _, node := range p.nodes {
		one, err := client.New(node.API, credentials)
		if err != nil {
			return credentials, err
		}
		defer one.Close()
		clients[node.Name] = one
		names = append(names, node.Name)
	}
	return credentials, AwaitReady(ctx, clients, names...)
}

func (p *Processes) awaitCredentials(ctx context.Context) (c client.Credentials, err error) {
	first := p.nodes[0].Name
	waited := Await(ctx, func() bool {
		c, err = p.credentials()
		return err == nil && c.Token != "" || p.gone(first)
	})
	if p.gone(first) {
		return c, fmt.Errorf("node %s ended: see %s", first, p.LogFile(first))
	}
	return c, errors.Join(waited, err)
}

// LogFile is where a node's output goes.
func (p *Processes) LogFile(name string) string { return filepath.Join(p.dir, name+".log") }

func (p *Processes) gone(name string) bool {
	p.mu.Lock()
	running := p.running[name]
	p.mu.Unlock()
	if running == nil {
		return true
	}
	select {
	case <-running.exited:
		return true
	default:
		return false
	}
}

// Start implements Fleet. The node's output is appended to DIR/NAME.log.
func (p *Processes) Start(_ context.Context, name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running[name] != nil {
		return fmt.Errorf("node %s runs already", name)
	}
	log, err := os.OpenFile(p.LogFile(name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	cmd := exec.Command(p.binary, p.args[name]...)
	cmd.Stdout, cmd.Stderr = log, log
	// A run that is itself killed leaves no nodes behind.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		log.Close()
		return fmt.Errorf("start node %s: %w", name, err)
	}
	running := &process{cmd: cmd, log: log, exited: make(chan struct{})}
	p.running[name] = running
	go func() { // owned by Kill, which waits for exited
		_ = cmd.Wait() // how it ended is in its log; that it ended is what counts
		log.Close()
		close(running.exited)
	}()
	return nil
}

// Kill implements Fleet with SIGKILL.
func (p *Processes) Kill(ctx context.Context, name string) error {
	return p.end(ctx, name, syscall.SIGKILL)
}

// Stop ends a node in order, with SIGTERM, and returns when it is gone.
func (p *Processes) Stop(ctx context.Context, name string) error {
	return p.end(ctx, name, syscall.SIGTERM)
}

func (p *Processes) end(ctx context.Context, name string, signal syscall.Signal) error {
	p.mu.Lock()
	running := p.running[name]
	p.mu.Unlock()
	if running == nil {
		return fmt.Errorf("node %s does not run", name)
	}
	if err := running.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-running.exited:
	case <-ctx.Done():
		return fmt.Errorf("node %s has not ended: %w", name, ctx.Err())
	}
	p.mu.Lock()
	delete(p.running, name)
	p.mu.Unlock()
	return nil
}

// Close kills what still runs.
func (p *Processes) Close(ctx context.Context) error {
	var errs []error
	for _, node := range p.nodes {
		p.mu.Lock()
		runs := p.running[node.Name] != nil
		p.mu.Unlock()
		if runs {
			errs = append(errs, p.Kill(ctx, node.Name))
		}
	}
	return errors.Join(errs...)
}
