package history

import (
	"errors"
	"fmt"
)

// ErrClosed ends every cursor when the hub is closed.
var ErrClosed = errors.New("history is closed")

// errStalledLog reports a Log that broke its contract.
var errStalledLog = errors.New("the log returned neither events nor a later position")

// Compacted reports a watch position before the beginning of history.
type Compacted struct{ Want, Oldest uint64 } // Oldest is the smallest position to resume from

func (e *Compacted) Error() string {
	return fmt.Sprintf("position %d is too old; the oldest kept is %d", e.Want, e.Oldest)
}
