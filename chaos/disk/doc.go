// Package disk implements a disk that fails on demand, for real and unmodified server processes: a
// FUSE file system whose files behave as on any local disk until a test injects a fault. Faults
// make it slow, hung, full, read-only or failing. Crash is a power cut: only synced data remains.
// The functions of damage.go damage the files of a node that has exited.
//
// # What a power cut leaves
//
// The host keeps running, so the disk tracks what is durable. Files below BACKING/tree always have
// the contents that processes see. When a page changes for the first time since the last sync of
// its file, the disk saves the durable bytes, and Crash restores them. The disk never syncs the
// host's own disk, so an fsync costs no I/O.
//
//   - The contents of a file, its size, owner and mode are durable when an fsync or fdatasync of
//     the file has succeeded.
//   - Changes of names (create, mkdir, link, symlink, rename, remove) go into one journal, in
//     order, as on ext4. An fsync of a file or directory makes all changes durable up to the last
//     one that concerns it; for a directory, that includes the changes inside it. So a new file
//     that was synced has its name. Its name can also be durable before its contents are: then the
//     file is empty or short.
//   - A Strict disk promises no more than POSIX: only an fsync of their directory makes changes of
//     names durable.
//   - An fsync that fails discards the pages that it should have written (as on Linux): a later
//     fsync that succeeds does not make them durable, unless a process wrote them again.
//
// Some file systems make more changes durable than this disk does: here, a rename over a file syncs
// nothing, and neither do the passing of time, sync(2) and syncfs(2). The disk does not track
// whether the times of files are durable, and has no extended attributes, devices or pipes. A write
// through a shared writable mapping counts as written when the kernel writes it back.
//
// # Access
//
// Nobody may change files below the backing directory while the disk is mounted. A process must not
// map a file of a Disk that it serves itself: a page fault blocks the Go scheduler, which then
// cannot run the server. The goroutines are those of the FUSE server and, after a failed write, one
// that discards the kernel's cached pages. Close ends them and waits.
package disk
