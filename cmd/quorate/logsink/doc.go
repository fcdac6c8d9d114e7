// Package logsink writes lines to destinations that may be slow, full or gone, without blocking
// whoever logs them.
//
//   - Queue holds lines, bounded in bytes and in number, until its goroutine has delivered them.
//     Beyond the bounds it drops lines, counts them, and reports their number once the destination
//     takes lines again.
//   - File delivers to a file that it rotates by size and age, and keeps a bounded number of.
//   - Writer delivers to any io.Writer, such as standard error.
//
// Each Queue has one goroutine, which Open starts and Close ends. All methods of Queue are safe for
// concurrent use. Those of File are for the goroutine of one Queue, but for Remaining.
//
// Lumberjack (gopkg.in/natefinch/lumberjack.v2) would rotate files, too, but its last version is of
// February 2023, its Close leaves a goroutine behind, it does not rotate by age, and after a write
// that found no space a part of a line remains in the file.
package logsink
