package clients_test

import (
	"bufio"
	"context"
	_ "embed"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"quorate/chaos/capability"
	"quorate/chaos/network"
)

// host is a virtual machine with an address of its own and a file system of its own, which begins as
// a copy of this machine's, and with a shell that runs one command after the other.
type host struct {
	name  string
	stdin io.WriteCloser
	out   *bufio.Reader
}

// hostScript makes the file system of a host and runs its shell.
//
//go:embed testdata/host.sh
var hostScript string

// systemctl stands in for systemd on the hosts: it starts and ends what the installed unit says.
//
//go:embed testdata/systemctl.sh
var systemctl string

// you is the host that stands for the reader's own machine.
const you = "you"

// startHosts starts hosts that know each other's names. Each has the files of dir in /mnt.
func startHosts(t *testing.T, dir string, names ...string) map[string]*host {
	t.Helper()
	capability.Require(t, network.Available())
	net, err := network.New(1, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := net.Close(); err != nil {
			t.Error(err)
		}
	})
	var table strings.Builder
	machines := map[string]*network.Host{}
	table.WriteString("127.0.0.1 localhost\n")
	for _, name := range names {
		if machines[name], err = net.Add(name); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&table, "%s %s\n", machines[name].Address(), name)
	}
	for name, text := range map[string]string{"hosts": table.String(), "systemctl": systemctl, "host.sh": hostScript} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	hosts := map[string]*host{}
	for _, name := range names {
		hosts[name] = startHost(t, machines[name], dir)
	}
	return hosts
}

func startHost(t *testing.T, machine *network.Host, dir string) *host {
	t.Helper()
	// When the process dies, so does everything in its namespace of processes.
	cmd := exec.Command("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", filepath.Join(dir, "host.sh"), machine.Name(), dir, t.TempDir())
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := machine.Start(cmd); err != nil {
		t.Fatal(err)
	}
	stop := context.AfterFunc(t.Context(), func() { _ = cmd.Process.Kill() }) // a command hangs
	t.Cleanup(func() {
		stop()
		_ = cmd.Process.Kill() // its shell may have ended
		_ = cmd.Wait()         // the error is that of the kill
	})
	return &host{name: machine.Name(), stdin: stdin, out: bufio.NewReader(stdout)}
}

// marker ends the output of a command, before its exit code.
const marker = "--ended-with--"

// run runs a command in the host's shell, and returns what it printed and its exit code.
func (h *host) run(command string) (printed string, code int, err error) {
	if _, err := fmt.Fprintf(h.stdin, "{ %s\n} </dev/null; code=$?; echo; echo %s $code\n", command, marker); err != nil {
		return "", 0, fmt.Errorf("%s: %w", h.name, err)
	}
	var text strings.Builder
	for {
		line, err := h.out.ReadString('\n')
		if err != nil {
			return text.String(), 0, fmt.Errorf("%s: %s: the shell ended: %w", h.name, command, err)
		}
		if rest, is := strings.CutPrefix(line, marker); is {
			code, err := strconv.Atoi(strings.TrimSpace(rest))
			return strings.TrimSuffix(text.String(), "\n"), code, err
		}
		text.WriteString(line)
	}
}

// shared returns a directory with the files that hosts have in /mnt: the binaries, and settings as the
// pages have them.
func shared(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for from, to := range map[string]string{
		binaries.quorate: "quorate", binaries.kubectl: "kubectl", filepath.Join(repository, "deploy/quorate.service"): "quorate.service",
	} {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for page, name := range map[string]string{"docs/cluster.md": "quorate.yaml", "docs/audit.md": "policy.yaml"} {
		if err := os.WriteFile(filepath.Join(dir, name), settingsIn(t, page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestPagesOnOneHost runs the pages of onOneHost, each on a machine of its own.
func TestPagesOnOneHost(t *testing.T) {
	dir := shared(t)
	for _, page := range onOneHost {
		t.Run(filepath.Base(page), func(t *testing.T) {
			runPage(t, startHosts(t, dir, you), filepath.Join(repository, page))
		})
	}
}

// TestPagesOnHosts runs the pages of onHosts, on three hosts and the reader's machine.
func TestPagesOnHosts(t *testing.T) {
	dir := shared(t)
	hosts := startHosts(t, dir, you, "n1", "n2", "n3", "n4")
	for i, page := range onHosts {
		if i > 0 {
			hosts["n1"].must(t, "quorate healthcheck --data-dir /var/lib/quorate --wait 60s") // a page may have restarted it
		}
		begun := time.Now()
		if !t.Run(filepath.Base(page), func(t *testing.T) { runPage(t, hosts, filepath.Join(repository, page)) }) {
			logNodes(t, hosts)
			t.Fatalf("the pages after %s need what it does", page)
		}
		t.Logf("%s: %s", page, time.Since(begun).Round(100*time.Millisecond))
	}
}

// logNodes logs the end of the log of each host's node.
func logNodes(t *testing.T, hosts map[string]*host) {
	t.Helper()
	for name, h := range hosts {
		printed, _, err := h.run("tail -n 60 /var/log/quorate.log; ps -ef")
		t.Logf("%s: %v\n%s", name, err, printed)
	}
}

// settingsIn returns the first block of YAML in a page.
func settingsIn(t *testing.T, page string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, page))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks(string(text)) {
		if strings.TrimSpace(b.open) == fence+"yaml" {
			return []byte(b.code)
		}
	}
	t.Fatalf("%s has no settings in YAML", page)
	return nil
}

// runPage runs the blocks of a page, and rewrites sessions with -update.
func runPage(t *testing.T, hosts map[string]*host, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rewritten strings.Builder
	for _, b := range blocks(string(text)) {
		what, d, err := b.how()
		if err != nil {
			t.Fatal(err)
		}
		raw := b.raw
		if what == typed || what == commandsOnly {
			prepare(t, hosts, d)
			for _, h := range on(t, hosts, d) {
				if printed := h.block(t, what, d, b.code); *update && what == typed {
					raw = b.with(printed)
				}
			}
		}
		rewritten.WriteString(raw)
	}
	if *update {
		if err := os.WriteFile(path, []byte(rewritten.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// prepare runs the commands of a directive that the page does not show.
func prepare(t *testing.T, hosts map[string]*host, d directive) {
	t.Helper()
	for _, line := range d.before {
		name, command, found := strings.Cut(line, ": ")
		if !found || hosts[name] == nil {
			t.Fatalf("%q is not HOST: COMMAND", line)
		}
		hosts[name].must(t, command)
	}
}

func on(t *testing.T, hosts map[string]*host, d directive) (list []*host) {
	t.Helper()
	for _, name := range append(d.hosts, you)[:max(len(d.hosts), 1)] {
		if hosts[name] == nil {
			t.Fatalf("there is no host %q", name)
		}
		list = append(list, hosts[name])
	}
	return list
}

// must runs a command that must succeed.
func (h *host) must(t *testing.T, command string) {
	t.Helper()
	printed, code, err := h.run(command)
	if err != nil || code != 0 {
		t.Fatalf("%s: %s: exit code %d, %v\n%s", h.name, command, code, err, printed)
	}
}

// block runs a block, and returns a session as it was.
func (h *host) block(t *testing.T, what how, d directive, code string) string {
	t.Helper()
	if what == commandsOnly {
		for _, c := range sessionOf(code, "") {
			h.must(t, c.command)
		}
		return ""
	}
	var whole strings.Builder
	for _, c := range sessionOf(code, "$ ") {
		printed := h.expect(t, c, d.exactly)
		whole.WriteString(c.typed + printed)
	}
	return whole.String()
}

// step is a command of a page, as it is typed, with the output that the page shows.
type step struct{ typed, command, output string }

// sessionOf splits the code of a block into its commands. Without a prompt, every line is a command
// or goes on with one.
func sessionOf(code, prompt string) (steps []step) {
	goesOn := false
	for line := range strings.Lines(code) {
		command, is := strings.CutPrefix(line, prompt)
		switch last := len(steps) - 1; {
		case goesOn:
			steps[last].typed += line
			steps[last].command += line
		case is:
			steps = append(steps, step{typed: line, command: command})
		default:
			steps[last].output += line
			continue
		}
		goesOn = strings.HasSuffix(strings.TrimSpace(line), `\`)
	}
	return steps
}

// settleTimeout bounds how long the output of a command may take to become what a page says: that a
// node is missed, say, or that its entries are applied.
const settleTimeout = 15 * time.Second

// expect runs a command until it prints what the page says, if it only reads, and returns what it
// printed.
func (h *host) expect(t *testing.T, c step, exactly bool) string {
	t.Helper()
	reads := strings.HasPrefix(c.command, "kubectl get") || strings.HasPrefix(c.command, "jq ") || strings.Contains(c.command, "quorate members") || strings.HasPrefix(c.command, "quorate checksum")
	fails := strings.HasPrefix(c.output, "Error") || strings.Contains(c.output, "quorate: ")
	for deadline := time.Now().Add(settleTimeout); ; {
		printed, code, err := h.run(c.command)
		if err != nil {
			t.Fatal(err)
		}
		right := same(printed, c.output, !exactly) && (code != 0) == fails
		if right && steady(printed) != steady(c.output) {
			return c.output // it differs from run to run
		}
		if right {
			return printed
		}
		if !reads || time.Now().After(deadline) {
			if !*update {
				t.Errorf("%s: %s exit code %d, printed\n%s\nthe page has\n%s", h.name, c.typed, code, printed, c.output)
			}
			return strings.TrimRight(printed, "\n") + "\n"
		}
	}
}
