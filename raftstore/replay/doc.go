// Package replay reads history back from the log on disk: it replays the entries behind the ones
// whose events package history has in memory. It gives up the history before an entry that is
// damaged or that another build wrote, and tells watchers from before it that their position is
// compacted.
package replay
