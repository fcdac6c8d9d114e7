package nemesis

import "time"

// Bound is how long a fault may keep a cluster from serving. More is a finding.
//
// A fault that is not Survivable may keep everybody from writing and from reading by quorum as long
// as it lasts; what it struck may refuse as long as that in any case. The bound counts from the end
// of that time.
type Bound struct {
	// Writes may be refused by all nodes for so long.
	Writes time.Duration
	// Reads may be refused by one node for so long.
	Reads time.Duration
	// Reaches says that nodes which the record does not name may refuse quorum reads as long as the
	// fault lasts.
	Reaches bool
}

// Of Quorate with a timeout scale of 1: a follower calls an election 2 to 4 s after it last heard
// of the leader, and another one 2 to 4 s later where that elected nobody; a log write that takes
// 10 s counts as hung. The rest is room for two busy cores: at most 6 s of silence until an
// election, twice that for one that is repeated, and a restart that replays its log meanwhile.
const (
	// steadyBound is for what leaves the leader alone.
	steadyBound = 6 * time.Second
	// electionBound is for one election, that may have to be repeated.
	electionBound = 12 * time.Second
	// restartBound is for a restart of nodes and an election.
	restartBound = 20 * time.Second
	// stallBound is for a log write that counts as hung, and an election.
	stallBound = 10*time.Second + electionBound
)

// Steady is the bound while nothing strikes.
func Steady() Bound { return Bound{Writes: steadyBound, Reads: steadyBound} }

// bounds has every fault.
func bounds() map[string]Bound {
	steady := Steady()
	election := Bound{Writes: electionBound, Reads: electionBound}
	rejoin := Bound{Writes: steadyBound, Reads: restartBound}                   // a follower comes back
	depose := Bound{Writes: electionBound, Reads: restartBound}                 // a leader comes back
	outage := Bound{Writes: restartBound, Reads: restartBound}                  // a majority comes back
	stall := Bound{Writes: stallBound, Reads: stallBound}                       // a disk hangs
	parted := Bound{Writes: electionBound, Reads: electionBound, Reaches: true} // some nodes reach the leader
	return map[string]Bound{
		"kill-leader": depose, "kill-follower": rejoin, "kill-majority": outage, "kill-all": outage,
		"pause-leader": depose, "pause-follower": rejoin, "pause-majority": outage,
		"rolling-restart": depose, "stop-leader": depose, "kill-at-start": depose,

		"isolate-leader": election, "isolate-follower": election, "split": election, "bridge": parted, "one-way-leader": election,
		"flapping": stall, // several elections may follow each other
		"delay":    election, "loss": election, "reorder": election, "duplicate": election, "slow-link": election, "cut-clients": election,

		"disk-full": election, "disk-full-majority": election, "slow-fsync": election, "hung-fsync": stall,
		"failing-fsync": depose, "read-only-disk": depose, "lose-unsynced": depose, "lose-unsynced-all": outage,
		"torn-write": depose, "torn-write-all": outage,

		"flip-log": depose, "tear-log": depose, "truncate-log": depose, "flip-snapshot": depose, "delete-data": rejoin,

		"clock-forward": steady, "clock-back": steady, "clocks-forward": steady, "clocks-back": steady,

		"join-leave": election, "replace-node": election, "grow-to-five-shrink-to-three": depose, "leader-leaves": depose,
		"remove-leader": depose, "transfer-leader": election, "join-nonvoter": election,
		"join-leave-follower-killed": depose, "join-leave-leader-isolated": depose, "join-nonvoter-follower-paused": depose,
		"transfer-leader-follower-killed": depose, "transfer-leader-follower-isolated": depose,
		"grow-to-five-shrink-to-three-links-slow": depose,

		"snapshot-under-load": steady, "install-snapshot": rejoin, "kill-during-snapshot": depose, "kill-during-restore": rejoin,

		"kill-in-write": depose, "kill-in-start": depose, "kill-in-snapshot": depose, "kill-in-rejoin": depose,
	}
}

// bounded returns the faults with their bounds.
func bounded(faults []Fault) []Fault {
	all := bounds()
	for i, f := range faults {
		faults[i].Bound = all[f.Name]
	}
	return faults
}
