package admin

import (
	"strings"
	"testing"
)

func TestQuorum(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		members   string // name:role, † for one that did not respond
		want, err string
	}{
		"three":                      {"n1:leader n2:voter n3:voter", "3 of 3 voters, tolerates 1 failure", ""},
		"one voter":                  {"n1:leader", "1 of 1 voters, tolerates 0 failures", ""},
		"a voter is down":            {"n1:leader n2:voter† n3:voter", "2 of 3 voters, tolerates 0 failures", ""},
		"five":                       {"n1:leader n2:voter n3:voter n4:voter n5:voter", "5 of 5 voters, tolerates 2 failures", ""},
		"non-voters do not count":    {"n1:leader n2:voter† n3:voter n4:nonvoter n5:nonvoter†", "2 of 3 voters, tolerates 0 failures", ""},
		"most are down":              {"n1:voter n2:voter† n3:voter†", "1 of 3 voters, no quorum", "n2, n3 did not respond"},
		"all respond and none leads": {"n1:voter n2:voter n3:voter", "3 of 3 voters, tolerates 1 failure", "no leader"},
		"the leader did not respond": {"n1:leader† n2:voter n3:voter", "2 of 3 voters, tolerates 0 failures", "no leader"},
	} {
		var members []Member
		for word := range strings.FieldsSeq(c.members) {
			name, role, _ := strings.Cut(strings.TrimSuffix(word, "†"), ":")
			members = append(members, Member{Name: name, Role: role, Alive: new(!strings.HasSuffix(word, "†"))})
		}
		q := QuorumOf(members)
		if got := q.String(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if err := q.Err(); (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: the error is %v, want %q", name, err, c.err)
		}
	}
}
