package schedule

import (
	"slices"
	"strings"
	"time"
)

const (
	prefix, suffix = "quorate-", ".backup"
	// stamp is the format of the scheduled time in a file's name. Names sort by time.
	stamp = "20060102T150405Z"
)

// names are the names of the backups of one cluster.
type names struct{ cluster string }

// start returns how the names begin. Names of other clusters may begin so, too.
func (n names) start() string { return prefix + n.cluster + "-" }

// fileName returns the name of the backup of a scheduled time.
func (n names) fileName(scheduled time.Time) string {
	return n.start() + scheduled.UTC().Format(stamp) + suffix
}

// scheduled returns the scheduled time of a name of this cluster.
func (n names) scheduled(name string) (t time.Time, ok bool) {
	middle, ok := strings.CutSuffix(name, suffix)
	if !ok {
		return time.Time{}, false
	}
	text, ok := strings.CutPrefix(middle, n.start())
	if !ok {
		return time.Time{}, false
	}
	t, err := time.Parse(stamp, text)
	return t, err == nil
}

// expired returns, of all names at a destination, those of backups of this cluster beyond the newest
// keep, and those that are older than maxAge unless it is 0; but never the newest one's.
func (n names) expired(all []string, keep int, maxAge time.Duration, now time.Time) (old []string) {
	kept := 0
	for _, name := range slices.Backward(slices.Sorted(slices.Values(all))) {
		scheduled, ours := n.scheduled(name)
		if !ours {
			continue
		}
		if aged := maxAge > 0 && now.Sub(scheduled) > maxAge; kept > 0 && (aged || kept >= keep) {
			old = append(old, name)
			continue
		}
		kept++
	}
	return old
}
