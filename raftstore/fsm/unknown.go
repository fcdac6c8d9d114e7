package fsm

import "fmt"

// Unknown reports a log entry that this build can't apply, because another build wrote it. Its
// message addresses the operator.
type Unknown struct {
	Index  uint64
	Format uint32 // 0 if it could not be read
	Reason error
}

func (e *Unknown) Error() string {
	if e.Format > entryFormat {
		return fmt.Sprintf("this node's build does not know entries of format %d (its own is %d) at index %d, written by a newer build; "+
			"run that build on this node", e.Format, entryFormat, e.Index)
	}
	return fmt.Sprintf("this node's build does not know the entry at index %d (%v), written by another build; run that build on this node",
		e.Index, e.Reason)
}

func (e *Unknown) Unwrap() error { return e.Reason }

func (e *Entry) unknown(index uint64, reason error) *Unknown {
	return &Unknown{Index: index, Format: e.format, Reason: reason}
}
