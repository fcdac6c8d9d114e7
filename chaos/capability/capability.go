// Package capability decides whether a test of faults may be skipped because the machine lacks
// something. A machine on which the tests run as root with /dev/fuse and /dev/net/tun supports all
// faults, so there a missing capability is a defect, and the test fails.
package capability

import (
	"os"
	"testing"
)

// devices are what disks and networks that go wrong take, besides root.
var devices = []string{"/dev/fuse", "/dev/net/tun"}

// Require does nothing if err is nil. Otherwise err names a missing capability: Require fails the
// test on a machine that supports all faults, and skips it on others.
func Require(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case able(os.Geteuid(), devices):
		t.Fatalf("this must not be skipped as root with %q: %v", devices, err)
	default:
		t.Skip(err)
	}
}

// able reports whether a user of this machine can have all faults.
func able(uid int, devices []string) bool {
	for _, path := range devices {
		if info, err := os.Stat(path); err != nil || info.Mode()&os.ModeDevice == 0 {
			return false
		}
	}
	return uid == 0
}
