// Package workload runs clients against a cluster and records their operations and responses;
// package check judges the record. In a Load, some clients contend for keys, some list, page and
// read cached states, and watchers follow every change and resume on another node when their watch
// ends. In an Idle there are no writes, and clients read every node in every way.
//
// A Load owns a goroutine for each client until Close or Record, and an Idle one for each kind of
// read on each node until Close.
package workload
