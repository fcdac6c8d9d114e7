// Package replay reads history from the log on disk: the events of entries that are older than the
// events in memory (package history). If an entry is damaged, or this build does not know it,
// history begins after that entry, and watchers at earlier positions get *history.Compacted.
package replay
