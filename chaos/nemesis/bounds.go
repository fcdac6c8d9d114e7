package nemesis

import "time"

// Bound limits how long a cluster may refuse service because of a fault. A run reports a longer
// outage as a finding.
//
// While a fault lasts, the nodes that it affects may refuse service. Unless it is Survivable and
// the only one, all nodes may refuse writes and quorum reads. For these refusals the bound counts
// from the end of the fault.
type Bound struct {
	// Writes limits how long all nodes may refuse writes.
	Writes time.Duration
	// Reads limits how long one node may refuse reads.
	Reads time.Duration
	// Reaches means that other nodes than those in the record may refuse quorum reads during the
	// fault.
	Reaches bool
}

// These bounds apply to Quorate with a timeout scale of 1. A follower starts an election 2 to 4 s
// after it last heard from the leader, and starts another 2 to 4 s later if that elected nobody. A
// log write that takes 10 s counts as stalled. The bounds leave a margin for two busy cores: 6 s
// until an election, 12 s for a repeated one, and 20 s with restarts that replay the log at the
// same time.
const (
	// steadyBound applies if the leader is not affected.
	steadyBound = 6 * time.Second
	// electionBound applies to an election, including a repeated one.
	electionBound = 12 * time.Second
	// restartBound applies to a restart of nodes with an election.
	restartBound = 20 * time.Second
	// stallBound applies to a log write that counts as stalled, with an election.
	stallBound = 10*time.Second + electionBound
)

// Steady returns the bound without faults.
func Steady() Bound { return Bound{Writes: steadyBound, Reads: steadyBound} }

// bounds returns the bounds of all faults by name.
func bounds() map[string]Bound {
	steady := Steady()
	election := Bound{Writes: electionBound, Reads: electionBound}
	rejoin := Bound{Writes: steadyBound, Reads: restartBound}                   // a follower restarts
	depose := Bound{Writes: electionBound, Reads: restartBound}                 // a leader restarts
	outage := Bound{Writes: restartBound, Reads: restartBound}                  // a majority restarts
	stall := Bound{Writes: stallBound, Reads: stallBound}                       // a disk stalls
	parted := Bound{Writes: electionBound, Reads: electionBound, Reaches: true} // only some nodes reach the leader
	return map[string]Bound{
		"kill-leader": depose, "kill-follower": rejoin, "kill-majority": outage, "kill-all": outage,
		"pause-leader": depose, "pause-follower": rejoin, "pause-majority": outage,
		"rolling-restart": depose, "stop-leader": depose, "kill-at-start": depose,

		"isolate-leader": election, "isolate-follower": election, "split": election, "bridge": parted, "one-way-leader": election,
		"flapping": stall, // may cause several elections in a row
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

// bounded returns the faults with their bounds set.
func bounded(faults []Fault) []Fault {
	all := bounds()
	for i, f := range faults {
		faults[i].Bound = all[f.Name]
	}
	return faults
}
