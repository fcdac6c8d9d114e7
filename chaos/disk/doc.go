// Package disk is a disk that goes wrong on demand, for real and unmodified server processes: a FUSE file system below which files
// behave as on any local disk until a test says otherwise. Faults make it slow, hang, full, read-only or broken; Crash is a power
// cut, after which only what was synced is there; the functions of damage.go do to the files of a node that has ended what bad disks
// and bad luck do.
//
// # What a power cut leaves
//
// This machine doesn't crash, so the disk keeps the truth itself. Files below BACKING/tree are always as processes see them. Of each
// page that changed since its file was last synced the disk holds the former bytes, and Crash puts them back. Nothing needs a sync of
// the host's own disk, so a healthy Disk is faster than the one below it.
//
//   - The contents of a file, its size, owner and mode are durable when fsync or fdatasync of it has returned.
//   - Names (create, mkdir, link, symlink, rename, remove) go into one journal, in order, as on ext4: an fsync of a file makes all
//     changes durable up to the last that concerned this file, and an fsync of a directory those up to the last inside it. So a new
//     file that was synced has its name, and a name can be durable while the contents are not: then the file is empty or short.
//   - A Strict disk promises what POSIX does and no more: names become durable by an fsync of their directory and in no other way.
//   - An fsync that failed has given up what it was to write (as on Linux): a later fsync that succeeds doesn't make it durable,
//     unless it was written again.
//
// What some file systems do beyond that isn't done: a rename over a file syncs nothing, and neither do the passing of time, sync(2) and
// syncfs(2). Times of files are not tracked for durability. Extended attributes, devices and pipes are not there. What a process writes
// through a shared writable mapping counts as written when the kernel writes it back.
//
// # Who may touch what
//
// Nobody may change files below the backing directory while the disk is mounted. A process must not map a file of a Disk that it
// serves itself: a page fault blocks the Go scheduler, which then can't serve the page. The goroutines are those of the FUSE server;
// Close ends them.
package disk
