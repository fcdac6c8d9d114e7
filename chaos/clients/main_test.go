package clients_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"quorate/chaos/nodes"
)

// binaries are built once for all tests.
var binaries struct{ kubectl, quorate string }

// update rewrites the files in scripts and the README's blocks that differ from what is printed.
var update = flag.Bool("update", false, "rewrite expected output")

// parallel is how many scripts run at a time unless -parallel says otherwise: they wait more than
// they compute.
const parallel = "4"

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", parallel); err != nil {
		panic(err)
	}
	testscript.Main(suite{m}, map[string]func(){"substitute": substitute})
}

type suite struct{ *testing.M }

// Run implements testscript.TestingM: it builds the binaries, then runs the tests.
func (s suite) Run() int {
	dir, err := os.MkdirTemp("", "quorate-clients-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return s.M.Run()
}

// build fills binaries.
func build(dir string) error {
	module, err := goTool("list", "-m", "-f", "{{.Version}}", "k8s.io/kubectl")
	if err != nil {
		return err
	}
	// Releases of kubectl are linked with their version; the module v0.x.y is of the release
	// v1.x.y.
	version := strings.Replace(strings.TrimSpace(module), "v0.", "v1.", 1)
	binaries.kubectl, binaries.quorate = filepath.Join(dir, "kubectl"), filepath.Join(dir, "quorate")
	_, err = goTool("build", "-ldflags", "-X k8s.io/component-base/version.gitVersion="+version, "-o", binaries.kubectl, "./kubectl")
	if err != nil {
		return err
	}
	_, err = goTool("build", "-C", "../..", "-o", binaries.quorate, "./cmd/quorate")
	return err
}

// goTool returns what the go command printed.
func goTool(args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out), nil
}

// waitTimeout bounds each wait: for one command, for a condition, for the start of a cluster.
const waitTimeout = time.Minute

// cluster is a running cluster and a kubeconfig for it.
type cluster struct {
	*nodes.Processes
	kubeconfig string
	home       string // of kubectl, so that discovery caches are its own
}

// startCluster starts count nodes of the binary and waits until they are ready.
func startCluster(t *testing.T, binary string, count int) *cluster {
	t.Helper()
	dir := t.TempDir()
	fleet, err := nodes.NewProcesses(nodes.ProcessesConfig{Binary: binary, Dir: dir, Count: count})
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
	if _, err := fleet.StartAll(ctx); err != nil {
		t.Fatal(err)
	}
	return &cluster{Processes: fleet, kubeconfig: filepath.Join(dir, "n1", "admin.kubeconfig"), home: t.TempDir()}
}

// kubectl runs a command against the first node with input and returns what it printed; it must
// succeed.
func (c *cluster) kubectl(t *testing.T, input string, args ...string) string {
	t.Helper()
	out, err := c.try(t, input, args...)
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// try is kubectl for commands that may fail.
func (c *cluster) try(t *testing.T, input string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, binaries.kubectl, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig, "HOME="+c.home)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func wantContains(t *testing.T, out string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
}
