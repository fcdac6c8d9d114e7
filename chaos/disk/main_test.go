package disk

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// childVariable makes the test binary a process that uses a disk, as its arguments say, and doesn't
// serve one.
const childVariable = "QUORATE_TEST_DISK_CHILD"

// checks is how often the disk is compared with its model, unless the command line says otherwise:
// each mounts disks.
const checks = "30"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		if err := flag.Set("rapid.checks", checks); err != nil {
			panic(err)
		}
		goleak.VerifyTestMain(m)
	}
	if err := child(os.Args[1], os.Args[2:]...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
