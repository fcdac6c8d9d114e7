package boltlog

import (
	"fmt"
	"runtime/debug"
)

// recoverDamage calls fn and returns its error, or a *Damage if bolt panics or a memory fault
// occurs on fn's goroutine. bolt trusts the pages that it maps: in a damaged or truncated file it
// may index out of range, fail an assertion, or read beyond the end of the file.
func recoverDamage(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = &Damage{Reason: fmt.Sprintf("is damaged (%v)", p)}
		}
	}()
	return fn()
}
