// Package workload runs clients against a cluster and records their operations and responses:
// clients that contend for keys, that list, page and read cached states, and watchers that follow
// every change and resume on another node when their watch ends. It judges nothing; package check
// does.
//
// A Load owns its goroutines, one for each client, until Close or Record.
package workload
