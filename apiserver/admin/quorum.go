package admin

import (
	"fmt"
	"strings"

	"quorate/raftstore"
)

// IsAlive reports whether the member responded.
func (m *Member) IsAlive() bool { return m.Alive != nil && *m.Alive }

// Quorum is what the responses of the voters say about the cluster.
type Quorum struct {
	Voters int
	Alive  int      // voters that responded
	Silent []string // names of the voters that did not
	Leader string   // "" if the responding node knows none, or it did not respond
}

// QuorumOf counts the voters among members.
func QuorumOf(members []Member) Quorum {
	var q Quorum
	for _, m := range members {
		if m.Role != RoleLeader && m.Role != RoleVoter {
			continue
		}
		q.Voters++
		if !m.IsAlive() {
			q.Silent = append(q.Silent, m.Name)
			continue
		}
		q.Alive++
		if m.Role == RoleLeader {
			q.Leader = m.Name
		}
	}
	return q
}

// Tolerates returns how many more voters may fail; it is negative without a quorum.
func (q Quorum) Tolerates() int { return q.Alive - (q.Voters/2 + 1) }

// String returns the verdict in one line.
func (q Quorum) String() string {
	verdict := fmt.Sprintf("%d of %d voters", q.Alive, q.Voters)
	switch t := q.Tolerates(); {
	case t < 0:
		return verdict + ", no quorum"
	case t == 1:
		return verdict + ", tolerates 1 failure"
	default:
		return fmt.Sprintf("%s, tolerates %d failures", verdict, t)
	}
}

// startMissing says what to do without a quorum.
const startMissing = "start what is down, and if it is lost for good see quorate recover --help"

// remedyOf returns what to do about the lack of a leader, to follow the error's own message.
func remedyOf(e *raftstore.NoLeaderError) string {
	switch {
	case e.Voters == 0:
		return "; start the nodes that it waits for, and see its log"
	case len(e.Missing) == 0:
		return "; the other voters respond, and should elect a leader: see their logs"
	}
	return "; " + startMissing
}

// Err returns why the cluster can't write, and what to do, nil if it can.
func (q Quorum) Err() error {
	switch {
	case q.Tolerates() < 0:
		return fmt.Errorf("no quorum: %s did not respond; %s", strings.Join(q.Silent, ", "), startMissing)
	case q.Leader == "":
		return fmt.Errorf("no leader: %d of %d voters respond, and should elect one within seconds", q.Alive, q.Voters)
	}
	return nil
}
