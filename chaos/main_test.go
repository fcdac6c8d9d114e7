package chaos_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"quorate/chaos/failpoint"
	"quorate/chaos/nodes"
)

// builds are the servers that the tests of this package need. Each is built once.
var builds struct {
	dir     string
	shipped func() (string, error)
	test    func() (string, error) // with failpoints, and a clock that can be moved
}

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	if builds.dir, err = os.MkdirTemp("", "quorate-chaos-test-"); err != nil {
		return 1, err
	}
	builds.shipped = sync.OnceValues(func() (string, error) { return nodes.Build(context.Background(), builds.dir) })
	builds.test = sync.OnceValues(func() (string, error) {
		dir := filepath.Join(builds.dir, "test")
		if err := os.Mkdir(dir, 0o700); err != nil {
			return "", err
		}
		return failpoint.Build(context.Background(), dir, failpoint.Options{Clock: true})
	})
	return m.Run(), os.RemoveAll(builds.dir)
}

// buildServer returns the binary as it is released.
func buildServer(t *testing.T) string {
	t.Helper()
	binary, err := builds.shipped()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// buildTestServer returns a binary with failpoints, breakable rules and a changeable clock.
func buildTestServer(t *testing.T) string {
	t.Helper()
	binary, err := builds.test()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}
