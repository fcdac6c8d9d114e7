// Package replay reads history from the log on disk by replaying entries that are older than the
// events in memory (package history). If an entry is damaged or was written by another build,
// history begins after it, and watchers at earlier positions get *history.Compacted.
package replay
