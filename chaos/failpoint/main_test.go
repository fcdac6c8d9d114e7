package failpoint_test

import (
	"context"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"quorate/chaos/failpoint"
)

// built is the server with failpoints and a clock that can be moved, built once for all tests.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "failpoint-")
	if err != nil {
		return "", err
	}
	builtIn = dir
	return failpoint.Build(context.Background(), dir, failpoint.Options{Clock: true})
})

// builtIn is the folder that is to be removed in the end.
var builtIn string

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if builtIn != "" {
			_ = os.RemoveAll(builtIn) // in the folder for temporary files
		}
		os.Exit(code)
	}))
}

func binary(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and kills servers")
	}
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
