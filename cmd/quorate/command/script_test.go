package command_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/raft"
	"github.com/rogpeppe/go-internal/testscript"

	"quorate/cmd/quorate/kubeconfig"
	"quorate/raftstore"
	"quorate/raftstore/log"
)

const (
	fileWait = 30 * time.Second // for a file that a node writes in the background
	filePoll = 10 * time.Millisecond
)

// exits CODE PROGRAM ARGS... runs a program and requires the exit code. The commands stdout and
// stderr then check its output.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// lines COUNT requires that many lines on the last command's standard error: an error for an
// operator has one.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: lines COUNT")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := strings.Count(ts.ReadFile("stderr"), "\n"); got != want {
		ts.Fatalf("%d lines of standard error, want %d", got, want)
	}
}

// mode OCTAL FILE... waits until the files exist and requires them to have that mode. A node that
// has just become ready may still write identity.json.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: mode OCTAL FILE...")
	}
	want, err := strconv.ParseUint(args[0], 8, 32)
	ts.Check(err)
	for _, name := range args[1:] {
		info, err := os.Stat(ts.MkAbs(name))
		for end := time.Now().Add(fileWait); errors.Is(err, fs.ErrNotExist) && time.Now().Before(end); {
			time.Sleep(filePoll)
			info, err = os.Stat(ts.MkAbs(name))
		}
		ts.Check(err)
		if info.Mode().Perm() != os.FileMode(want) {
			ts.Fatalf("%s has mode %v, want %v", name, info.Mode().Perm(), os.FileMode(want))
		}
	}
}

// access reads the kubeconfig that a node wrote.
func access(ts *testscript.TestScript, dir string) kubeconfig.Config {
	config, err := kubeconfig.Read(filepath.Join(ts.MkAbs(dir), "admin.kubeconfig"))
	ts.Check(err)
	return config
}

// get DIR PATH CODE PART sends a request to the node whose data directory is DIR, and requires the
// code and a part of the response.
func get(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: get DIR PATH CODE PART")
	}
	expect(ts, request(ts, args[0], args[1]), args[2], args[3])
}

// configmap METHOD DIR NAME KIB CODE PART creates (POST), replaces (PUT) or deletes (DELETE) a
// ConfigMap with so many KiB of data in the namespace default, and expects the code and the part of
// the answer.
func configmap(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 6 {
		ts.Fatalf("usage: configmap METHOD DIR NAME KIB CODE PART")
	}
	size, err := strconv.Atoi(args[3])
	ts.Check(err)
	path, body := "/api/v1/namespaces/default/configmaps/"+args[2], ""
	if args[0] != http.MethodDelete {
		body = fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{"a":%q}}`, args[2], strings.Repeat("x", size<<10))
	}
	if args[0] == http.MethodPost {
		path = strings.TrimSuffix(path, "/"+args[2])
	}
	expect(ts, send(ts, args[0], args[1], path, body), args[4], args[5])
}

// expect checks a response, and closes its body.
func expect(ts *testscript.TestScript, resp *http.Response, code, part string) {
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	ts.Check(err)
	if strconv.Itoa(resp.StatusCode) != code || !strings.Contains(string(body), part) {
		ts.Fatalf("got %s: %.1000s", resp.Status, body)
	}
}

// request sends a GET for the path to the node whose data directory is dir, as its administrator.
// The caller closes the body.
func request(ts *testscript.TestScript, dir, path string) *http.Response {
	return send(ts, http.MethodGet, dir, path, "")
}

// send is request with a method and a body.
func send(ts *testscript.TestScript, method, dir, path, body string) *http.Response {
	config := access(ts, dir)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool(config)}, DisableKeepAlives: true}
	req, err := http.NewRequest(method, config.Server+path, strings.NewReader(body))
	ts.Check(err)
	req.Header.Set("Authorization", "Bearer "+config.Token)
	resp, err := (&http.Client{Transport: transport}).Do(req)
	ts.Check(err)
	return resp
}

// pool returns the certificate authorities of a kubeconfig.
func pool(config kubeconfig.Config) *x509.CertPool {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(config.CA)
	return roots
}

// taken DIR VARIABLE sets the variable to the address that the node's API listens on.
func taken(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: taken DIR VARIABLE")
	}
	ts.Setenv(args[1], strings.TrimPrefix(access(ts, args[0]).Server, "https://"))
}

// signal TERM|KILL DIR signals the process that holds the lock of a data directory. One that has
// ended needs no KILL.
func signal(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]syscall.Signal{"TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL}
	if neg || len(args) != 2 || signals[args[0]] == 0 {
		ts.Fatalf("usage: signal TERM|KILL DIR")
	}
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(args[1] + "/lock")))
	ts.Check(err)
	if err = syscall.Kill(pid, signals[args[0]]); args[0] == "KILL" && errors.Is(err, syscall.ESRCH) {
		err = nil
	}
	ts.Check(err)
}

// hosts counts the loopback hosts handed out.
var hosts atomic.Uint32

// ports sets each variable to an address that can be used for TCP and UDP. Each address has a
// loopback host of its own, so that no other process uses it before the node does. A free port from
// the operating system has no such guarantee.
//
//	ports VARIABLE...
func ports(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: ports VARIABLE...")
	}
	pid := uint32(os.Getpid())
	for _, variable := range args {
		n := hosts.Add(1)
		ts.Setenv(variable, fmt.Sprintf("127.%d.%d.%d:7947", 1+pid%200, 1+(pid/200+n/250)%250, 1+n%250))
	}
}

// await PATTERN PROGRAM ARGS... runs a program until its standard output matches the pattern.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: await PATTERN PROGRAM ARGS...")
	}
	want, err := regexp.Compile(args[0])
	ts.Check(err)
	for end := time.Now().Add(eventually); ; time.Sleep(filePoll) {
		err := ts.Exec(args[1], args[2:]...)
		if want.MatchString(ts.ReadFile("stdout")) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("the output matches %s not within %s: %v", want, eventually, err)
		}
	}
}

// damage cut|flip FILE COPY makes a copy of a file without its second half, or with one bit changed
// in the middle.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: damage cut|flip FILE COPY")
	}
	content := []byte(ts.ReadFile(args[1]))
	middle := len(content) / 2
	switch args[0] {
	case "cut":
		content = content[:middle]
	case "flip":
		content[middle] ^= 1
	default:
		ts.Fatalf("unknown damage %q", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), content, 0o600))
}

// newer DIR appends an entry of a newer format to the log of a node that does not run.
func newer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: newer DIR")
	}
	path := filepath.Join(ts.MkAbs(args[0]), raftstore.RaftDir, raftstore.LogDir)
	l, err := log.Open(log.Config{Dir: path, Logger: slog.New(slog.DiscardHandler)})
	ts.Check(err)
	last, err := l.LastIndex()
	ts.Check(err)
	var before raft.Log
	ts.Check(l.GetLog(last, &before))
	ts.Check(l.StoreLog(&raft.Log{Index: last + 1, Term: before.Term, Type: raft.LogCommand, Data: []byte{8, 2}}))
	ts.Check(l.Close())
}

// flip PATTERN changes one byte in the middle of each file that matches.
func flip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: flip PATTERN")
	}
	files, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(files) == 0 {
		ts.Fatalf("no file matches %s", args[0])
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		ts.Check(err)
		content[len(content)/2] ^= 1
		ts.Check(os.WriteFile(file, content, 0o600))
	}
}
