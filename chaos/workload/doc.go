// Package workload runs clients against a cluster and records their operations and responses. Some
// clients contend for keys, some list, page and read cached states, and watchers follow every
// change and resume on another node when their watch ends. Package check judges the record.
//
// A Load owns its goroutines, one for each client, until Close or Record.
package workload
