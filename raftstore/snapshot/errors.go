package snapshot

import "fmt"

// Corrupt reports a damaged snapshot. Its message is one line for the operator, with the remedy.
type Corrupt struct {
	ID     string // empty if the damage is in a stream of unknown origin
	Path   string // its folder
	Reason string
}

func (e *Corrupt) Error() string {
	if e.ID == "" {
		return "snapshot " + e.Reason
	}
	return fmt.Sprintf("snapshot %s (%s) %s; remove this node from the cluster and start it with an empty data directory, or restore a backup",
		e.ID, e.Path, e.Reason)
}
