package nodes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

const (
	// maxEndings is the maximum number of recorded ends of nodes.
	maxEndings = 100
	// endingLines is the number of log lines recorded of a node that ended by itself.
	endingLines = 40
)

// Ending describes a node that ended by itself.
type Ending struct {
	Node string
	Time time.Time
	How  string // "exit status 1", "signal: killed", …
	Tail string // of its log
}

// lifetime is one process of a node.
type lifetime struct {
	cmd    *exec.Cmd
	log    *os.File
	told   bool          // the process was ordered to end; guarded by the fleet's mu
	exited chan struct{} // closed when the process is gone
}

// Start implements Fleet. It appends the node's output to DIR/NAME.log.
func (p *Processes) Start(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("start node %s: %w", name, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	one, err := p.find(name)
	if err != nil {
		return err
	}
	if one.current.runs() {
		return fmt.Errorf("node %s runs already", name)
	}
	if err := p.start(one); err != nil {
		return fmt.Errorf("start node %s: %w", name, err)
	}
	return nil
}

// start starts a process for a node. The caller must hold mu.
func (p *Processes) start(one *process) error {
	cmd := exec.Command(p.c.Binary, p.args(one)...)
	var err error
	if cmd.Env, err = p.env(one); err != nil {
		return err
	}
	log, err := os.OpenFile(p.LogFile(one.node.Name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := p.launch(one, cmd); err != nil {
		return errors.Join(err, log.Close())
	}
	l := &lifetime{cmd: cmd, log: log, exited: make(chan struct{})}
	one.current = l
	go p.watch(one.node.Name, l) // Kill, Stop and Close wait for exited
	return nil
}

// launch starts a command on the node's host. The process is killed if this process is killed.
func (p *Processes) launch(one *process, cmd *exec.Cmd) error {
	if one.host != nil {
		return one.host.Start(cmd)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return p.thread.Do(cmd.Start)
}

// watch waits until a process ends, and records it if it was not ordered to.
func (p *Processes) watch(name string, l *lifetime) {
	_ = l.cmd.Wait() // its state contains how it ended
	l.log.Close()
	tail, err := p.LogTail(name, endingLines)
	if err != nil {
		tail = err.Error()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !l.told {
		ending := Ending{Node: name, Time: time.Now(), How: l.cmd.ProcessState.String(), Tail: tail}
		if len(p.endings) < maxEndings {
			p.endings = append(p.endings, ending)
		}
		p.c.Log.Warn("a node has ended by itself", "node", name, "how", ending.How, "log", p.LogFile(name))
	}
	close(l.exited)
}

// runs reports whether the process exists.
func (l *lifetime) runs() bool {
	if l == nil {
		return false
	}
	select {
	case <-l.exited:
		return false
	default:
		return true
	}
}

// Endings implements Witness. It returns at most the first hundred since the last call.
func (p *Processes) Endings() []Ending {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken := p.endings
	p.endings = nil
	return taken
}

// Running implements Running.
func (p *Processes) Running(_ context.Context, name string) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, err := p.find(name)
	return err == nil && one.current.runs(), err
}

// Exited returns a channel that is closed when the node's process has ended. If there is none, it
// is closed already.
func (p *Processes) Exited(name string) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one, err := p.find(name); err == nil && one.current != nil {
		return one.current.exited
	}
	none := make(chan struct{})
	close(none)
	return none
}

// Kill implements Fleet with SIGKILL. It does nothing if the node has ended.
func (p *Processes) Kill(ctx context.Context, name string) error {
	return p.end(ctx, name, syscall.SIGKILL)
}

// Stop implements Stopper with SIGTERM. It does nothing if the node has ended, and resumes a paused
// node.
func (p *Processes) Stop(ctx context.Context, name string) error {
	return p.end(ctx, name, syscall.SIGTERM, syscall.SIGCONT)
}

// Pause implements Pauser with SIGSTOP.
func (p *Processes) Pause(_ context.Context, name string) error {
	return p.send(name, false, syscall.SIGSTOP)
}

// Resume implements Pauser with SIGCONT. It does nothing if the node has ended.
func (p *Processes) Resume(_ context.Context, name string) error {
	return p.send(name, false, syscall.SIGCONT)
}

// send sends signals to a node's process, if it exists. toEnd means that the signals are to end it.
func (p *Processes) send(name string, toEnd bool, signals ...syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, err := p.find(name)
	if err != nil {
		return err
	}
	if !one.current.runs() {
		return nil
	}
	one.current.told = one.current.told || toEnd
	for _, signal := range signals {
		if err := one.current.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("send %s to node %s: %w", signal, name, err)
		}
	}
	return nil
}

func (p *Processes) end(ctx context.Context, name string, signals ...syscall.Signal) error {
	if err := p.send(name, true, signals...); err != nil {
		return err
	}
	select {
	case <-p.Exited(name):
		return nil
	case <-ctx.Done():
		return fmt.Errorf("node %s has not ended: %w", name, ctx.Err())
	}
}
