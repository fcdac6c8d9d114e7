package diskguard

// Advice returns what an operator should do about an alarm of this name, in one line; "" for a name
// that this build does not know. It is the only place that says so: the log, the API, the commands
// and the console print it, and docs/alarms.md repeats it.
func (n AlarmName) Advice() string { return advice()[n] }

// AlarmNames returns the names of all alarms.
func AlarmNames() []AlarmName { return []AlarmName{NoSpace, DiskStalled, Diverged} }

func advice() map[AlarmName]string {
	return map[AlarmName]string{
		NoSpace:     "free some space, delete objects, enlarge the disk, or raise its quota; writes then resume automatically",
		DiskStalled: "check the disk, and replace it if it stalls again; quorate transfer-leader moves leadership away meanwhile",
		Diverged: "if most nodes agree, stop the node, remove it (quorate remove NAME), and start it with an empty data directory; " +
			"if no state is that of most, make the other nodes respond, and empty no data directory before most agree",
	}
}
