package snapshot

import "fmt"

// Corrupt reports a snapshot that can't be trusted. Its message is for the operator: one line, with what to do.
type Corrupt struct {
	ID     string // empty when the fault is in a stream of unknown origin
	Path   string // its folder
	Reason string
}

func (e *Corrupt) Error() string {
	if e.ID == "" {
		return "snapshot " + e.Reason
	}
	return fmt.Sprintf("snapshot %s (%s) %s; restore a backup, or move the data directory aside and let this node join again",
		e.ID, e.Path, e.Reason)
}
