package segment

import (
	"errors"
	"fmt"
)

var (
	// ErrInDoubt reports a failed append or removal after which the disk may or may not have the
	// change, so that memory and disk may differ. The Log must not be changed any more.
	ErrInDoubt  = errors.New("the outcome of a write to the disk is unknown")
	errReadOnly = errors.New("the log is open for reading only")
	// ErrRemoved reports a read of an entry that is not in the log, or no longer.
	ErrRemoved = errors.New("the log does not have the entry")
)

// Damage reports damage to a segment.
type Damage struct {
	Index  uint64 // of the first damaged entry; 0 if the damage is not in an entry
	Path   string // of the segment
	Reason string
}

func (d *Damage) Error() string {
	if d.Index > 0 {
		return fmt.Sprintf("%s: entry %d %s", d.Path, d.Index, d.Reason)
	}
	return fmt.Sprintf("%s %s", d.Path, d.Reason)
}
