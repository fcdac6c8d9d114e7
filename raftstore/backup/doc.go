// Package backup defines the format of a backup file: a header, and a compressed snapshot in the
// format of packages snapshot and fsm, both covered by checksums.
//
//	"quorate-backup" and the version of the format, a byte
//	the length of the header, 4 bytes, little-endian
//	the header, a logpb.BackupHeader
//	CRC-32C of the header, 4 bytes, little-endian
//	the snapshot
//
// A backup holds the whole state of a cluster, including Secrets in clear text. It contains no log,
// no membership and no key. Read and Verify accept a file only if all of it is undamaged. The
// package starts no goroutines.
package backup
