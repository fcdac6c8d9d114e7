// Package boltlog reads the logs of former builds, which kept entries and stable values in one bolt
// file, in the format of raft-boltdb/v2 with a checksum for each entry and each stable value.
// Package log copies such a log into its own files.
//
// bolt trusts the pages that it maps: a damaged page makes it panic, during its open on a goroutine
// whose panics no caller can recover, and a truncated file causes a memory fault. Therefore Open
// walks a file that was not closed properly before bolt does, with bounds checks, and finds all
// damage at which bolt's walk would fail; later panics and faults become errors.
package boltlog
