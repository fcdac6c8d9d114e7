// Package schedule writes backups at scheduled times to a directory or a bucket, and removes old
// ones.
//
// Every node of a cluster runs a Scheduler, and the leader's writes. The Lease RecordName of the
// namespace platform-system records the scheduled time of the last backup, so every leader
// continues where the one before it stopped:
//
//   - A backup is due if a scheduled time after the recorded one has passed. A new leader thus
//     makes up for a backup that the former leader did not finish. Of several missed times it makes
//     up the latest one.
//   - The leader records the time after the file has its name. Before it gives the file its name,
//     it confirms by a linearizable read that the record has not changed, so a former leader that
//     is slow does not write the backup a second time.
//   - A file is named after its cluster and scheduled time. In a directory that the nodes share, a
//     new leader finds the file of a leader that failed before it recorded it, verifies the file,
//     and records it. Only in directories that the nodes do not share, a leader that fails between
//     the two steps leaves a second file of that time on another machine.
//
// A file gets its name after it was written at a bounded rate, synced, read back from the disk and
// verified. An object of a bucket is one for all nodes, like a file of a shared directory. It gets
// its name when its upload is complete, and is read back and verified before it is recorded. A
// failed backup is repeated after a pause, until the next one is due. The package owns the goroutine
// of Run, and that of an upload, for which Run waits.
package schedule
