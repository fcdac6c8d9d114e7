package overview_test

import (
	"fmt"
	"strings"
	"testing"

	"quorate/apiserver/admin"
	"quorate/apiserver/rates"
	"quorate/cmd/quorate/overview"
)

// member returns one that responds, with little to say.
func member(name, role string) admin.Member {
	return admin.Member{
		Name: name, Role: role, Alive: new(true), Term: new(uint64(4)), Lag: new(uint64(0)), Version: new("v1.0.0"), DiskFreeBytes: new(int64(3 << 30)),
	}
}

// silent returns one that does not respond.
func silent(name, role string) admin.Member { return admin.Member{Name: name, Role: role} }

func TestStatus(t *testing.T) {
	t.Parallel()
	behind := member("n3", admin.RoleVoter)
	behind.Lag, behind.Term, behind.DiskFreeBytes = new(uint64(7)), new(uint64(5)), new(int64(1<<30))
	behind.Alarms = []admin.Alarm{{Name: "no-space", Message: "13 MiB are left", Advice: "make room"}}
	newer := member("n2", admin.RoleVoter)
	newer.Version = new("v1.1.0")
	for name, c := range map[string]struct {
		members []admin.Member
		verdict overview.Verdict
		want    string // LABEL=VALUE of all lines
	}{
		"three": {
			[]admin.Member{member("n1", admin.RoleLeader), member("n2", admin.RoleVoter), member("n3", admin.RoleVoter), member("n4", admin.RoleNonvoter)},
			overview.Healthy,
			"leader=n1, term 4|voters=n1, n2, n3 (3 of 3 voters, tolerates 1 failure)|non-voters=n4|lag=none|version=v1.0.0|" +
				"free disk=at least 3.0 GiB (n1)|alarms=none",
		},
		"one is behind and raises an alarm": {
			[]admin.Member{member("n1", admin.RoleLeader), member("n2", admin.RoleVoter), behind},
			overview.Degraded,
			"leader=n1, term 5|voters=n1, n2, n3 (3 of 3 voters, tolerates 1 failure)|lag=at most 7 entries (n3)|version=v1.0.0|" +
				"free disk=at least 1.0 GiB (n3)|alarm=n3: no-space: 13 MiB are left: make room",
		},
		"one is down": {
			[]admin.Member{member("n1", admin.RoleLeader), member("n2", admin.RoleVoter), silent("n3", admin.RoleVoter)},
			overview.Degraded,
			"leader=n1, term 4|voters=n1, n2, n3 (2 of 3 voters, tolerates 0 failures)|lag=none|version=v1.0.0|free disk=at least 3.0 GiB (n1)|" +
				"silent=n3: start it, or remove it if it is lost for good (quorate remove NAME)|alarms=none",
		},
		"two versions": {
			[]admin.Member{member("n1", admin.RoleLeader), newer},
			overview.Healthy,
			"leader=n1, term 4|voters=n1, n2 (2 of 2 voters, tolerates 0 failures)|lag=none|version=v1.0.0 (n1), v1.1.0 (n2)|" +
				"free disk=at least 3.0 GiB (n1)|upgrade=the members run several versions: finish the upgrade|alarms=none",
		},
		"all but the one that is asked are down": {
			[]admin.Member{{Name: "n1", Role: admin.RoleVoter, Alive: new(true)}, silent("n2", admin.RoleVoter), silent("n3", admin.RoleVoter)},
			overview.Down,
			"leader=none|voters=n1, n2, n3 (1 of 3 voters, no quorum)|lag=-|version=-|free disk=-|" +
				"silent=n2, n3: start it, or remove it if it is lost for good (quorate remove NAME)|alarms=none|" +
				"problem=no quorum: n2, n3 did not respond; start what is down, and if it is lost for good see quorate recover --help",
		},
	} {
		s := overview.Of(c.members)
		var lines []string
		for _, l := range s.Lines() {
			lines = append(lines, fmt.Sprintf("%s=%s", l.Label, l.Value))
		}
		if got := strings.Join(lines, "|"); s.Verdict != c.verdict || got != c.want {
			t.Errorf("%s: %s\n%s\nwant %s\n%s", name, s.Verdict, got, c.verdict, c.want)
		}
	}
}

func TestRates(t *testing.T) {
	t.Parallel()
	s := overview.Of([]admin.Member{member("n1", admin.RoleLeader)})
	s.AddRates(rates.Rates{})
	if s.Rates != nil {
		t.Errorf("without samples the rates are %+v", s.Rates)
	}
	s.AddRates(rates.Rates{Samples: []rates.Sample{{}, {Entries: 12.34, Reads: 120, ReadP99Seconds: new(.0042)}}})
	want := "12.3 log entries/s; this node serves 120.0 reads/s (p99 4.2 ms) and 0.0 writes/s"
	for _, l := range s.Lines() {
		if l.Label == "rates" && l.Value == want {
			return
		}
	}
	t.Errorf("%+v lacks %q", s.Lines(), want)
}
