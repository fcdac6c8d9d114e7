package command

import (
	"fmt"
	"io"
	"strings"
	"time"

	"quorate/raftstore/backup"
	"quorate/raftstore/offline"
)

// The results of commands that change something, as --output json and yaml print them.

// transferred is the result of `quorate transfer-leader`.
type transferred struct {
	Leader string `json:"leader"` // "" if the node is of a build that does not name it
}

// departed is the result of `quorate leave`. A node that has left never joins again with its data.
type departed struct {
	Left bool `json:"left"`
}

// removed is the result of `quorate remove`.
type removed struct {
	Removed string `json:"removed"` // the name of the former member
}

// issued is the result of `quorate token create`.
type issued struct {
	Token  string    `json:"token"`
	User   string    `json:"user"`
	UID    string    `json:"uid,omitempty"`
	Groups []string  `json:"groups"`
	Expiry time.Time `json:"expiry"`
}

// saved is what a backup holds.
type saved struct {
	ClusterID string    `json:"clusterID"`
	Version   uint64    `json:"version"`
	Objects   uint64    `json:"objects"`
	Time      time.Time `json:"time"`
}

func savedOf(h backup.Header) saved {
	return saved{ClusterID: h.ClusterID, Version: h.Index, Objects: h.Objects, Time: h.Time.UTC()}
}

// backedUp is the result of `quorate backup`.
type backedUp struct {
	File string `json:"file"`
	saved
	Node  string `json:"node"`
	Build string `json:"build"`
}

// founded is a cluster that a command has made.
type founded struct {
	ClusterID    string `json:"clusterID"`
	FirstVersion uint64 `json:"firstVersion"`
	VersionGap   uint64 `json:"versionGap"`
	DataDir      string `json:"dataDir"`
	Name         string `json:"name"` // of its first node
}

// restored is the result of `quorate restore`.
type restored struct {
	Backup  saved   `json:"backup"`
	Cluster founded `json:"cluster"`
	// Start is the command that starts the node.
	Start string `json:"start"`
}

// text prints the result as text.
func (r *restored) text(w io.Writer, _ bool) error {
	fmt.Fprintf(w, "restored %d objects, version %d of cluster %s as of %s\n",
		r.Backup.Objects, r.Backup.Version, r.Backup.ClusterID, r.Backup.Time.Format(time.RFC3339))
	fmt.Fprintf(w, "new cluster %s, whose versions begin with %d (raised by %d)\n",
		r.Cluster.ClusterID, r.Cluster.FirstVersion, r.Cluster.VersionGap)
	_, err := fmt.Fprintf(w, "start it: %s\n", r.Start)
	return err
}

// recovered is the result of `quorate recover`.
type recovered struct {
	Survivor survivor `json:"survivor"`
	// Cluster and Kept are null and empty if nothing was changed.
	Cluster *founded `json:"cluster"`
	Kept    string   `json:"kept,omitempty"` // the directory with what was there before
}

// survivor is what a node keeps that goes on alone.
type survivor struct {
	Name      string   `json:"name"`
	ClusterID string   `json:"clusterID"`
	LastEntry uint64   `json:"lastEntry"`
	Term      uint64   `json:"term"`
	Objects   int      `json:"objects"`
	Dropped   []string `json:"dropped"` // the other members
	// Damage says why what follows the last entry can't be kept.
	Damage string `json:"damage,omitempty"`
}

func survivorOf(s *offline.Survivor) survivor {
	found := survivor{Name: s.Name, ClusterID: s.ClusterID, LastEntry: s.Index, Term: s.Term, Objects: s.Objects, Dropped: []string{}}
	for _, m := range s.Dropped {
		found.Dropped = append(found.Dropped, m.Name)
	}
	if s.Damage != nil {
		found.Damage = oneLine(s.Damage)
	}
	return found
}

// text prints the result as text: the survivor's last entry, its objects, the members that are
// dropped, and the cluster that was made of it, if any.
func (r *recovered) text(w io.Writer, _ bool) error {
	s := r.Survivor
	_, err := fmt.Fprintf(w, "%s of cluster %s: last entry %d, term %d, %d objects\n", s.Name, s.ClusterID, s.LastEntry, s.Term, s.Objects)
	if len(s.Dropped) > 0 {
		fmt.Fprintf(w, "members that are dropped: %s\n", strings.Join(s.Dropped, ", "))
	}
	if s.Damage != "" {
		fmt.Fprintf(w, "damage, what comes after that entry is lost: %s\n", s.Damage)
	}
	if r.Cluster == nil {
		return err
	}
	fmt.Fprintf(w, "new cluster %s of %s alone, whose versions begin with %d (raised by %d)\n",
		r.Cluster.ClusterID, s.Name, r.Cluster.FirstVersion, r.Cluster.VersionGap)
	fmt.Fprintf(w, "what was there before is kept in %s: remove it when all is well\n", r.Kept)
	_, err = fmt.Fprintf(w, "start %s as before; others join it with empty data directories\n", s.Name)
	return err
}
