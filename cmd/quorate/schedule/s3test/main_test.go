package s3test

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/nodes"
)

const (
	// waitTimeout bounds each wait for a condition, on a machine that may be busy.
	waitTimeout = 2 * time.Minute
	bucketName  = "backups"
	prefix      = "clusters/prod"
	accessKey   = "admin"
	secretKey   = "of-the-tests"
)

// binaries are the server under test and the store, built once.
var binaries struct{ quorate, store string }

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "quorate-s3-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if binaries.quorate, err = nodes.Build(context.Background(), dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	binaries.store = filepath.Join(dir, "versitygw")
	build := exec.Command("go", "build", "-o", binaries.store, "github.com/versity/versitygw/cmd/versitygw")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the store: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// store is a running S3-compatible store, whose objects are the files below dir.
type store struct {
	t       *testing.T
	dir     string
	sidecar string // the store's own data of the objects
	address string
	process *exec.Cmd
}

// newStore starts a store that has the bucket.
func newStore(t *testing.T) *store {
	t.Helper()
	s := &store{t: t, dir: t.TempDir(), sidecar: t.TempDir(), address: freeAddress(t)}
	if err := os.Mkdir(filepath.Join(s.dir, bucketName), 0o700); err != nil {
		t.Fatal(err)
	}
	s.start()
	t.Cleanup(s.kill)
	return s
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func (s *store) start() {
	s.t.Helper()
	s.process = exec.Command(binaries.store, "--port", s.address, "--access", accessKey, "--secret", secretKey, "--quiet",
		"posix", "--sidecar", s.sidecar, s.dir)
	s.process.Stderr = s.t.Output()
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	await(s.t, "the store accepts connections", func() bool {
		c, err := net.Dial("tcp", s.address)
		if err != nil {
			return false
		}
		return c.Close() == nil
	})
}

// kill ends the store's process, if it runs.
func (s *store) kill() {
	if s.process.ProcessState != nil {
		return
	}
	if err := s.process.Process.Kill(); err != nil {
		s.t.Error(err)
	}
	_ = s.process.Wait() // always an error: it was killed
}

// url returns the --backup-dir of a bucket of the store.
func (s *store) url(bucket string) string {
	return "s3:http://" + s.address + "/" + bucket + "/" + prefix
}

// backups returns the paths of the backups in the bucket, the oldest first.
func (s *store) backups() []string {
	s.t.Helper()
	paths, err := filepath.Glob(filepath.Join(s.dir, bucketName, prefix, "quorate-*.backup"))
	if err != nil {
		s.t.Fatal(err)
	}
	slices.Sort(paths)
	return paths
}

// parts counts the parts of uploads that are not complete.
func (s *store) parts() (count int) {
	s.t.Helper()
	complete := filepath.Join(s.dir, bucketName, strings.Split(prefix, "/")[0])
	err := filepath.WalkDir(filepath.Join(s.dir, bucketName), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && !strings.HasPrefix(path, complete) {
			count++
		}
		return nil // the store removes files meanwhile
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return count
}

// cluster is running nodes, with a client of each.
type cluster struct {
	*nodes.Processes
	clients map[string]*client.Client
}

// startCluster starts nodes that write backups to a destination.
func startCluster(t *testing.T, count int, destination, secret string, flags ...string) *cluster {
	t.Helper()
	fleet, err := nodes.NewProcesses(nodes.ProcessesConfig{
		Binary: binaries.quorate, Dir: t.TempDir(), Count: count,
		Flags: append([]string{"--backup-dir", destination}, flags...),
		Env:   []string{"AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + secret},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := fleet.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	c := &cluster{Processes: fleet, clients: map[string]*client.Client{}}
	credentials, err := fleet.StartAll(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range fleet.Nodes() {
		one, err := client.New(node.API, credentials)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(one.Close)
		c.clients[node.Name] = one
	}
	return c
}

// failed reports whether a node has counted failed backups of a reason.
func (c *cluster) failed(t *testing.T, reason string) bool {
	t.Helper()
	for _, one := range c.clients {
		text, _, err := one.Fetch(t.Context(), "text/plain", "/metrics")
		if err == nil && strings.Contains(string(text), `quorate_backup_failures_total{reason="`+reason+`"}`) {
			return true
		}
	}
	return false
}

// await waits for a condition.
func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	if err := nodes.Await(ctx, condition); err != nil {
		t.Fatalf("waited in vain: %s", what)
	}
}
