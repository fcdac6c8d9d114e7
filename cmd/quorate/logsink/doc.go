// Package logsink writes lines to destinations that may be slow, full or gone, without blocking the
// callers that log them.
//
//   - Queue holds lines, bounded in bytes and in number, until its goroutine has delivered them.
//     Beyond the bounds it drops lines, counts them, and reports their number once the destination
//     accepts lines again.
//   - File delivers to a file, which it rotates by size and age. It keeps a bounded number of
//     files.
//   - Writer delivers to any io.Writer, such as standard error.
//
// Each Queue has one goroutine, which Open starts and Close ends, unless the destination hangs (see
// ErrBlocked). All methods of Queue are safe for concurrent use. Only the goroutine of one Queue
// may call the methods of a File, except Remaining.
//
// The package does not use lumberjack (gopkg.in/natefinch/lumberjack.v2): its last release was in
// February 2023, its Close leaves a goroutine behind, it does not rotate by age, and a write that
// runs out of disk space leaves a partial line in the file.
package logsink
