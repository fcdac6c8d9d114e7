package log

import (
	"fmt"
	"runtime/debug"
)

// recoverCorrupt runs fn and returns a *Corrupt if bolt panics or a memory fault occurs in it. bolt
// trusts its mapped pages: in a damaged or truncated file it may index out of range, fail an
// assertion, or read beyond the end of the file.
func recoverCorrupt(path string, fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = &Corrupt{Path: path, Reason: fmt.Sprintf("is damaged (%v)", p)}
		}
	}()
	return fn()
}
