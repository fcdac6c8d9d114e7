package command_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"quorate/apiserver/admin"
	"quorate/cmd/quorate/kubeconfig"
	"quorate/cmd/quorate/operator"
)

// TestDemoInATerminal drives a demo by its keys: an object created through the printed kubeconfig
// survives the death of the leader, the killed node returns, and a fourth joins. At the end no
// process and no file is left.
func TestDemoInATerminal(t *testing.T) {
	t.Parallel()
	d := startDemo(t, true)
	within(t, "three voters", func() bool { return d.quorum().Alive == 3 && d.quorum().Leader != "" })
	if _, stderr, err := d.quorate("healthcheck", "--wait", "60s"); err != nil { // The namespace is there then.
		t.Fatal(stderr)
	}
	if code, body := d.create("kept"); code/100 != 2 {
		t.Fatalf("%d: %s", code, body)
	}

	before := d.quorum().Leader
	within(t, "the picture shows the leader", func() bool { return strings.Contains(d.printed(), before+" is the leader") })
	d.press("l")
	within(t, "another node leads", func() bool { leader := d.quorum().Leader; return leader != "" && leader != before })
	if !strings.Contains(d.printed(), before+" killed by SIGKILL") {
		t.Errorf("%s was not killed", before)
	}
	if n := len(d.children()); n != 2 {
		t.Errorf("%d nodes run, want 2", n)
	}
	if code, body := d.ask(http.MethodGet, configMaps+"/kept", ""); code != http.StatusOK {
		t.Errorf("the object after the leader's death: %d: %s", code, body)
	}

	d.press(strings.TrimPrefix(before, "n"))
	within(t, "the killed node is back", func() bool { return d.quorum().Alive == 3 })
	d.press("a")
	within(t, "the added node is a voter", func() bool { return d.quorum().Alive == 4 })

	children := d.children()
	if len(children) != 4 {
		t.Errorf("%d nodes run, want 4", len(children))
	}
	d.press("q")
	d.ends(children)
	if left := d.files(); len(left) > 0 {
		t.Errorf("the demo leaves %q", left)
	}
	if !strings.Contains(d.printed(), "\x1b[?1049l") {
		t.Error("the terminal still shows the alternate screen")
	}
}

// TestDemoWithoutATerminal checks that a demo prints lines without control sequences, ends by
// SIGTERM, and keeps its directory if it shall.
func TestDemoWithoutATerminal(t *testing.T) {
	t.Parallel()
	d := startDemo(t, false, "--keep")
	within(t, "three voters", func() bool { return strings.Contains(d.printed(), "3 of 3 voters, tolerates 1 failure\n") })
	if strings.Contains(d.printed(), "\x1b") {
		t.Error("there are control sequences")
	}
	children := d.children()
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	d.ends(children)
	if left := d.files(); len(left) != 1 || filepath.Join(d.tmp, left[0]) != d.dir {
		t.Errorf("the demo leaves %q, want its directory", left)
	}
	for _, name := range []string{"n1/node-id", "n2.log", "n3.log", "admin.kubeconfig"} {
		if _, err := os.Stat(filepath.Join(d.dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestDemoThatIsKilled checks that the nodes end with a demo that can't end them.
func TestDemoThatIsKilled(t *testing.T) {
	t.Parallel()
	d := startDemo(t, false)
	within(t, "three nodes", func() bool { return len(d.children()) == 3 })
	children := d.children()
	if err := d.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-d.readable
	_ = d.cmd.Wait() // It was killed.
	for _, pid := range children {
		within(t, "a node ends", func() bool { return parentOf(t, pid) == 0 })
	}
}

// terminal is a demo that runs in a pseudoterminal, or without one.
type terminal struct {
	*process          // for requests by the demo's kubeconfig
	keys     *os.File // nil without a terminal
	tmp      string   // where the demo makes its directory
	readable chan struct{}

	outputMu sync.Mutex
	output   bytes.Buffer // guarded by outputMu
}

// startDemo starts a demo. Without a terminal its output is a pipe.
func startDemo(t *testing.T, withTerminal bool, args ...string) *terminal {
	t.Helper()
	d := &terminal{process: &process{t: t}, tmp: t.TempDir(), readable: make(chan struct{})}
	d.cmd = exec.Command("quorate", append([]string{"demo"}, args...)...)
	// A setting in the environment must not reach the nodes.
	d.cmd.Env = append(os.Environ(), "TMPDIR="+d.tmp, "QUORATE_NAME=other", "QUORATE_DATA_DIR="+d.tmp+"/other")
	var from io.Reader
	if withTerminal {
		tty, err := pty.StartWithSize(d.cmd, &pty.Winsize{Rows: 40, Cols: 160})
		if err != nil {
			t.Fatal(err)
		}
		d.keys, from = tty, tty
		t.Cleanup(func() { tty.Close() })
	} else {
		pipe, err := d.cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		from = pipe
		if err := d.cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		defer close(d.readable)
		buffer := make([]byte, 64<<10)
		for {
			n, err := from.Read(buffer)
			d.outputMu.Lock()
			d.output.Write(buffer[:n])
			d.outputMu.Unlock()
			if err != nil { // EIO from a pseudoterminal without a process
				return
			}
		}
	}()
	t.Cleanup(func() {
		if d.cmd.ProcessState == nil {
			_ = d.cmd.Process.Kill()
			_ = d.cmd.Wait()
		}
		<-d.readable
		if t.Failed() {
			t.Logf("the demo printed:\n%s", d.printed())
		}
	})
	within(t, "the demo prints its kubeconfig", func() bool { return kubeconfigLine.MatchString(d.printed()) })
	d.dir = filepath.Dir(kubeconfigLine.FindStringSubmatch(d.printed())[1])
	return d
}

var kubeconfigLine = regexp.MustCompile(`export KUBECONFIG=(\S+/admin.kubeconfig)\r?\n`)

func (d *terminal) printed() string {
	d.outputMu.Lock()
	defer d.outputMu.Unlock()
	return d.output.String()
}

func (d *terminal) press(key string) {
	d.t.Helper()
	if _, err := d.keys.WriteString(key); err != nil {
		d.t.Fatal(err)
	}
}

// quorum returns what the demo's kubeconfig leads to, the zero value without an answer.
func (d *terminal) quorum() admin.Quorum {
	d.t.Helper()
	config, err := kubeconfig.Read(filepath.Join(d.dir, "admin.kubeconfig"))
	if err != nil {
		d.t.Fatal(err)
	}
	client, err := operator.New(config)
	if err != nil {
		d.t.Fatal(err)
	}
	defer client.Close()
	members, err := client.Members(d.t.Context())
	if err != nil {
		return admin.Quorum{}
	}
	return admin.QuorumOf(members)
}

// children returns the processes of the demo that run.
func (d *terminal) children() (pids []int) {
	d.t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		d.t.Fatal(err)
	}
	for _, path := range stats {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			d.t.Fatal(err)
		}
		if parentOf(d.t, pid) == d.cmd.Process.Pid {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parentOf returns the parent of a process that runs, 0 if it has ended. Who adopts an orphan that
// has ended may never wait for it.
func parentOf(t *testing.T, pid int) int {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0
	}
	// pid (command) state ppid: the command may hold anything.
	fields := strings.Fields(string(content[bytes.LastIndexByte(content, ')')+1:]))
	if len(fields) < 2 || fields[0] == "Z" || fields[0] == "X" {
		return 0
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		t.Fatal(err)
	}
	return parent
}

// ends waits for the end of the demo, and checks that none of its processes is left.
func (d *terminal) ends(children []int) {
	d.t.Helper()
	<-d.readable
	if err := d.cmd.Wait(); err != nil {
		d.t.Errorf("the demo ended with %v", err)
	}
	for _, pid := range children {
		if parentOf(d.t, pid) != 0 {
			d.t.Errorf("the node with process %d still runs", pid)
		}
	}
}

func (d *terminal) files() (names []string) {
	d.t.Helper()
	entries, err := os.ReadDir(d.tmp)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}
