// Package backup is the format of a backup file: a header, and a snapshot as nodes keep it on disk
// (packages snapshot and fsm), compressed, with checksums over all of it.
//
//	"quorate-backup" and the version of the format, a byte
//	the length of the header, 4 bytes, little-endian
//	the header, a logpb.BackupHeader
//	CRC-32C of the header, 4 bytes, little-endian
//	the snapshot
//
// It holds the whole state of a cluster, Secrets in clear text included, and nothing else: no log,
// no membership, no key. Read and Verify accept a file only when all of it is found whole. The
// package runs no goroutines.
package backup
