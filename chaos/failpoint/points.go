package failpoint

// Point is a moment in the code of a node.
type Point struct {
	Name   string
	Stage  Stage
	Moment string
}

// Stage is the activity in which a node reaches a point.
type Stage string

// The stages.
const (
	Founding     Stage = "founding"     // the first start of a cluster's first node
	Starting     Stage = "starting"     // the start of the only node of a cluster, on the state it left
	Writing      Stage = "writing"      // writes, on a node that leads or is the only one
	Forwarding   Stage = "forwarding"   // writes, on a node that follows
	Serving      Stage = "serving"      // writes and quorum reads of the nodes that follow, on the one that leads
	Snapshotting Stage = "snapshotting" // a snapshot, and the trimming of the log behind it
	Transferring Stage = "transferring" // handing over leadership
	Rejoining    Stage = "rejoining"    // a return to a cluster that has gone on meanwhile, with another leader
	Changing     Stage = "changing"     // adding, promoting and removing members, on the node that leads
	Restoring    Stage = "restoring"    // the command `restore`
	Recovering   Stage = "recovering"   // the command `recover`
	Breaking     Stage = "breaking"     // a rule is broken while the point is armed
)

// Points lists all points in the sources, by stage.
func Points() []Point {
	return []Point{
		{"dataFileBeforeRename", Founding, "a key, an identity or a credential is synced under a passing name"},
		{"dataFileAfterRename", Founding, "it has its name, and the folder isn't synced"},
		{"logBeforeRename", Founding, "an empty log is complete under a temporary name"},
		{"logAfterRename", Founding, "it has its name, and the folder is synced"},
		{"promiseBeforeSync", Founding, "a promise to form a cluster is about to be written"},
		{"promiseAfterSync", Founding, "the promise is on the disk, and no other node knows of it"},
		{"bootstrapBefore", Founding, "all have promised, and the first configuration isn't written"},
		{"bootstrapAfter", Founding, "the first configuration is written, and nobody leads"},

		{"memberFileBeforeRename", Starting, "the list of members, or the promise, is synced under a temporary name"},
		{"memberFileAfterRename", Starting, "it has its name, and the folder isn't synced"},
		{"startAfterLog", Starting, "log and snapshots are open, and not yet compared"},
		{"startBeforeRaft", Starting, "log and snapshots fit each other, and Raft isn't started"},
		{"restoreBefore", Starting, "the state is about to be read from a snapshot"},
		{"restoreMiddle", Starting, "an object of the snapshot was read"},
		{"restoreBeforePublish", Starting, "all of the snapshot was read, and the state is still the old one"},
		{"restoreAfter", Starting, "the state is the snapshot's"},
		{"startAfterRaft", Starting, "Raft runs, and nothing is served"},
		{"termBeforeSync", Starting, "a term or a vote is about to be stored"},
		{"stableBetweenCopies", Starting, "one of the two copies of a term or a vote is on the disk"},
		{"termAfterSync", Starting, "the term or vote is stored, and no other node knows of it"},
		{"segmentBeforeRename", Starting, "a new file of the log is synced under a temporary name"},
		{"segmentAfterRename", Starting, "it has its name, and the folder isn't synced"},
		{"leaderBefore", Starting, "the node leads, and has committed nothing in its term"},
		{"leaderAfter", Starting, "the first entry of its term is committed, and no read is served yet"},
		{"startBeforeReady", Starting, "the node has caught up, and hasn't said so"},

		{"proposeBefore", Writing, "a write was admitted, and Raft doesn't have it"},
		{"logBeforeSync", Writing, "entries are about to be written to the log"},
		{"logAfterSync", Writing, "entries are in the log and synced, and Raft does not know yet"},
		{"applyBefore", Writing, "entries are committed, and none is applied"},
		{"applyBeforePublish", Writing, "entries are applied, and the state that is read is the one before"},
		{"applyAfterPublish", Writing, "the state is the new one, and watchers have no events"},
		{"applyAfter", Writing, "watchers have the events, and who proposed the entries has no answer"},
		{"proposeAfter", Writing, "the outcome of a write is known to the node that leads, and to nobody else"},
		{"answerBefore", Writing, "the answer to a write is about to be sent"},

		{"forwardBefore", Forwarding, "a write is about to be sent to the leader"},
		{"forwardAfter", Forwarding, "the leader has answered, or failed to, and the client has no answer"},
		{"forwardApplied", Serving, "the leader has applied a forwarded write, and not answered"},
		{"readIndexBefore", Serving, "the leader knows the index for a read, and hasn't confirmed that it leads"},
		{"readIndexAfter", Serving, "the leader has confirmed that it leads, and not answered"},

		{"snapshotBefore", Snapshotting, "a snapshot is begun, and nothing is written"},
		{"snapshotMiddle", Snapshotting, "an object is about to be written to the snapshot"},
		{"snapshotBeforeRename", Snapshotting, "the snapshot is written and sealed under a passing name"},
		{"snapshotAfterRename", Snapshotting, "the snapshot has its name and is on the disk"},
		{"logBeforeTrim", Snapshotting, "entries that a snapshot covers are about to be removed from the log"},
		{"logAfterTrim", Snapshotting, "they are removed"},

		{"transferBefore", Transferring, "leadership is about to be handed over"},
		{"transferAfter", Transferring, "it was handed over, or not, and the caller has no answer"},

		{"logBeforeCut", Rejoining, "entries that another leader has overruled are about to be removed from the end of the log"},
		{"logAfterCut", Rejoining, "they are removed, and the leader's are not there"},
		{"logBeforeReset", Rejoining, "all entries of the log are about to be removed, because a leader's snapshot has overruled them"},
		{"logAfterReset", Rejoining, "they are removed"},

		{"memberBeforeAdd", Changing, "a name was given to a new node, and the node isn't in the configuration"},
		{"memberAfterChange", Changing, "a change of the configuration is committed, and the caller has no answer"},
		{"memberBeforePromote", Changing, "a node is about to become a voter"},
		{"memberAfterPromote", Changing, "it has become a voter"},
		{"memberBeforeRemove", Changing, "an operator's removal of a member is about to be proposed"},
		{"memberAfterRemove", Changing, "the removal is committed, and the operator has no answer"},

		{"foundBeforeRename", Restoring, "the state of a backup is complete under a passing name"},
		{"foundAfterRename", Restoring, "it has its name, and the folder isn't synced"},
		{"recoverAfterSnapshot", Recovering, "the snapshot of the new cluster is complete, and the log is the old one"},
		{"recoverBeforeRename", Recovering, "an empty log is about to take the old one's place"},
		{"recoverAfterRename", Recovering, "the empty log has its place, and the folder isn't synced"},

		{"breakAckBeforeSync", Breaking, "entries are acknowledged when they come, and written two seconds later"},
		{"breakSkipSync", Breaking, "entries are written without a sync"},
		{"breakReadIndex", Breaking, "quorum reads are served without asking who leads"},
		{"breakDropEvent", Breaking, "events don't reach watchers that have caught up"},
		{"breakReuseVersion", Breaking, "objects get the version before theirs, which is that of another write"},
		{"breakApplyTwice", Breaking, "a write of unknown outcome is sent again, over its own result"},
	}
}
