package command_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"quorate/apiserver/admin"
	"quorate/cmd/quorate/kubeconfig"
	"quorate/raftstore/smalldisk"
)

// diskBytes is the size of the disk in these tests: a quarter of it is the reserve.
const diskBytes = 96 << 20

// eventually bounds the wait for a condition.
const eventually = time.Minute

func within(t *testing.T, what string, condition func() bool) {
	t.Helper()
	poll := time.NewTicker(20 * time.Millisecond) // the node needs the processor, too
	defer poll.Stop()
	for deadline := time.Now().Add(eventually); !condition(); <-poll.C {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", eventually, what)
		}
	}
}

// process is a running node of a cluster of its own.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	dir  string
	http *http.Client

	mu     sync.Mutex
	stderr bytes.Buffer // guarded by mu
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.Write(b)
}

func (p *process) said(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Contains(p.stderr.String(), text)
}

// start starts a node, which ends with the test.
func start(t *testing.T, dir string) *process {
	t.Helper()
	p := &process{t: t, dir: dir}
	p.cmd = exec.Command("quorate", "serve", "--name", "n1", "--data-dir", dir,
		"--api-addr", "127.0.0.1:0", "--peer-addr", "127.0.0.1:0", "--gossip-addr", "127.0.0.1:0")
	p.cmd.Stderr = p
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.stop)
	return p
}

// stop stops the node gracefully, unless it has ended already.
func (p *process) stop() {
	if p.cmd.ProcessState != nil {
		return
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Error(err)
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("the node ended: %v\n%s", err, &p.stderr)
	}
}

// quorate runs a command of the operator's and returns what it printed.
func (p *process) quorate(args ...string) (stdout, stderr string, err error) {
	var out, errs strings.Builder
	cmd := exec.Command("quorate", append(args, "--data-dir", p.dir)...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// ask sends a request and returns the code and the body of the response.
func (p *process) ask(method, path, body string) (int, string) {
	p.t.Helper()
	config, err := kubeconfig.Read(filepath.Join(p.dir, "admin.kubeconfig"))
	if err != nil {
		p.t.Fatal(err)
	}
	if p.http == nil {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(config.CA)
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
		p.http = &http.Client{Transport: transport}
		p.t.Cleanup(transport.CloseIdleConnections)
	}
	ctx, cancel := context.WithTimeout(p.t.Context(), eventually)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, config.Server+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+config.Token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := p.http.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

const configMaps = "/api/v1/namespaces/default/configmaps"

func (p *process) create(name string) (int, string) {
	p.t.Helper()
	return p.ask(http.MethodPost, configMaps, fmt.Sprintf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":%q},"data":{"a":"b"}}`, name))
}

// startWithObject starts a node and waits until it is ready and has stored the ConfigMap "before".
func startWithObject(t *testing.T, dir string) *process {
	t.Helper()
	n := start(t, dir)
	if _, stderr, err := n.quorate("healthcheck", "--wait", "60s"); err != nil {
		t.Fatal(stderr)
	}
	if code, body := n.create("before"); code/100 != 2 {
		t.Fatal(body)
	}
	return n
}

// TestFullDisk checks that a node whose disk is full continues to serve reads and deletions, and
// refuses other writes with an error that says what to do (I16: certainly not applied). The alarm
// appears in readyz, the metrics, members and the log. The node accepts writes again once there is
// space.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := smalldisk.New(t, diskBytes)
	n := startWithObject(t, disk.Dir)

	disk.Fill(16 << 20)
	var code int
	var body string
	attempt := 0
	within(t, "writes are refused", func() bool {
		attempt++
		code, body = n.create(fmt.Sprintf("o%d", attempt))
		return code/100 != 2
	})
	var refusal struct {
		Code            int
		Reason, Message string
	}
	if err := json.Unmarshal([]byte(body), &refusal); err != nil || code != http.StatusInsufficientStorage || refusal.Code != code ||
		refusal.Reason != "InsufficientStorage" || !strings.Contains(refusal.Message, "no space left on n1; free some there") {
		t.Errorf("%d: %s", code, body)
	}

	t.Run("reads_deletions_and_readiness_go_on", func(t *testing.T) {
		for _, request := range [][2]string{
			{http.MethodGet, configMaps + "/before"}, {http.MethodGet, configMaps + "/before?resourceVersion=0"}, {http.MethodGet, configMaps + "?limit=1"},
			{http.MethodDelete, configMaps + "/before"}, {http.MethodGet, "/readyz"},
		} {
			if code, body := n.ask(request[0], request[1], ""); code != http.StatusOK {
				t.Errorf("%v: %d: %s", request, code, body)
			}
		}
	})
	t.Run("the_alarm_is_shown", func(t *testing.T) {
		if _, body := n.ask(http.MethodGet, "/readyz?verbose", ""); !strings.Contains(body, "[!]alarm no-space raised\n") || !strings.Contains(body, "readyz check passed") {
			t.Errorf("readyz: %s", body)
		}
		if _, body := n.ask(http.MethodGet, "/metrics", ""); !strings.Contains(body, `quorate_alarm{alarm="no-space"} 1`) ||
			!strings.Contains(body, `quorate_alarm{alarm="diverged"} 0`) || !strings.Contains(body, "quorate_raftstore_read_only 1") {
			t.Error("the metrics lack the alarm")
		}
		table, _, err := n.quorate("members")
		if err != nil || !strings.Contains(table, " no-space\n") {
			t.Errorf("members: %v\n%s", err, table)
		}
		var members []admin.Member
		text, _, err := n.quorate("members", "-o", "json")
		if err == nil {
			err = json.Unmarshal([]byte(text), &members)
		}
		if err != nil || len(members) != 1 || len(members[0].Alarms) != 1 || !strings.HasPrefix(members[0].Alarms[0].Advice, "free some space, delete objects, ") {
			t.Errorf("members: %v\n%s", err, text)
		}
		within(t, "the log has the alarm", func() bool { return n.said(`msg="alarm raised" component=raftstore node=n1 alarm=no-space`) })
	})
	t.Run("a_backup_to_a_full_disk_leaves_nothing", func(t *testing.T) {
		small := smalldisk.New(t, 1<<20)
		small.Fill(0)
		_, stderr, err := n.quorate("backup", small.Dir+"/b")
		if err == nil || !strings.Contains(stderr, "no space left on device") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("backup: %v: %s", err, stderr)
		}
		if left, err := os.ReadDir(small.Dir); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})

	disk.Clear()
	within(t, "writes succeed again", func() bool {
		attempt++
		code, _ := n.create(fmt.Sprintf("o%d", attempt))
		return code/100 == 2
	})
	within(t, "the alarm is cleared", func() bool { return n.said(`msg="alarm cleared"`) })
}

// A node waits for space instead of exiting, and can be stopped while it waits.
func TestStartOnAFullDisk(t *testing.T) {
	t.Parallel()
	disk := smalldisk.New(t, diskBytes)
	n := startWithObject(t, disk.Dir)
	disk.Fill(0)
	n.stop()
	disk.Fill(0)
	waits := func() *process {
		n := start(t, disk.Dir)
		within(t, "the node logs that it waits", func() bool { return n.said("waits to be started until there is space") })
		return n
	}
	waits().stop() // in order, as at any other time
	again := waits()
	disk.Clear()
	if _, stderr, err := again.quorate("healthcheck", "--wait", "60s"); err != nil {
		t.Fatal(stderr)
	}
	if code, body := again.ask(http.MethodGet, configMaps+"/before", ""); code != http.StatusOK {
		t.Errorf("%d: %s", code, body)
	}
}
