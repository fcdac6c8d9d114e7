// Package trap implements failpoints in binaries that package failpoint builds. No other code may
// import it.
package trap

import (
	"os"
	"syscall"

	"go.etcd.io/gofail/runtime"
)

// Kill is the value that ends the process at the point, as SIGKILL does: return("kill"). gofail's
// own panic would run deferred functions, and handlers that recover would survive it.
const Kill = "kill"

// Point is a failpoint of gofail that can also end the process.
type Point struct {
	*runtime.Failpoint
	name string
}

// New registers a point. A name can be registered once.
func New(name string) Point { return Point{runtime.NewFailpoint(name), name} }

// Acquire executes the terms of the point. If the point is armed to return, Acquire returns the
// value and a nil error, and the code after the point must run.
func (p Point) Acquire() (any, error) {
	value, err := p.Failpoint.Acquire()
	if value == Kill {
		_, _ = os.Stderr.WriteString("failpoint: killed at " + p.name + "\n") // nobody is left to hear of an error
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // until the signal has arrived
	}
	return value, err
}
