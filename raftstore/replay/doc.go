// Package replay reads history from the log on disk. It replays entries that are older than the
// events in memory (package history). If an entry is damaged or was written by another build,
// history begins after that entry, and watchers at earlier positions get *history.Compacted.
package replay
