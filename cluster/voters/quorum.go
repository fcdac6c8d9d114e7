package voters

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/raft"
)

// ErrNoQuorum reports a member that can't be removed, because too few of the voters that are left
// are alive.
var ErrNoQuorum = errors.New("the cluster would have no quorum")

// keepsQuorum returns ErrNoQuorum if the member is a voter and too few of the other voters are
// alive. The error names the voters that must return or be removed first. No request overrides this
// check: such a removal would take effect immediately, and could never be committed.
func keepsQuorum(servers []raft.Server, members []Member, self, name string) error {
	alive := map[string]bool{self: true}
	for _, m := range members {
		alive[m.Name] = alive[m.Name] || m.Alive
	}
	voter, left := false, 0
	var dead []string
	for _, s := range servers {
		switch {
		case s.Suffrage != raft.Voter:
		case string(s.ID) == name:
			voter = true
		default:
			left++
			if !alive[string(s.ID)] {
				dead = append(dead, string(s.ID))
			}
		}
	}
	living := left - len(dead)
	if !voter || living >= left/2+1 {
		return nil
	}
	return fmt.Errorf("%w: without %s, %d of %d voters would be alive; bring %s back, or remove what is dead first",
		ErrNoQuorum, name, living, left, strings.Join(dead, ", "))
}
